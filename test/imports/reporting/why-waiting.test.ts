import { expect, test } from 'vitest'
import { type Pace, whyWaiting } from '#src/imports/reporting/pace.ts'

const PACE: Pace = {
  batchesLeft: 1,
  batchRows: 1,
  queuedForMs: 60_000,
  rowsSent: 0,
  inFlight: 0,
  paceMs: 0,
  hasWorker: false,
  isAccountServed: true,
  behind: null,
  backOffMs: 0,
  backOffCode: null,
}

test.for([
  [{ behind: '7', hasWorker: true }, 'Import 7 of the same page goes first'],
  [
    { behind: '7' },
    'Import 7 of the same page goes first, and no worker is processing it: start `ferry worker`, or cancel that import',
  ],
  [
    { behind: '7', isAccountServed: null },
    'Import 7 of the same page goes first, and no worker is processing it: start `ferry worker`, or cancel that import',
  ],
  [
    { behind: '7', isAccountServed: false },
    'Import 7 of the same page goes first, and no worker has their account: start `ferry worker` with the account in its settings, or cancel both imports',
  ],
  [
    { isAccountServed: false },
    'No worker has the account of this import: start `ferry worker` with the account in its settings',
  ],
  [{}, 'No worker is processing this import: start `ferry worker` if none is running'],
  [{ queuedForMs: 9_000 }, 'A worker takes it within seconds'],
  [
    { queuedForMs: 9_000, isAccountServed: null },
    'No worker is processing this import: start `ferry worker` if none is running',
  ],
  [
    { hasWorker: true, backOffMs: 1_500, backOffCode: 'InternalError' },
    'Backing off for 1.5 s after InternalError',
  ],
  [{ hasWorker: true, backOffMs: 1_500, inFlight: 1 }, 'Backing off for 1.5 s'],
  [{ hasWorker: true, inFlight: 1 }, 'Waiting for 1 response'],
  [{ hasWorker: true, inFlight: 2 }, 'Waiting for 2 responses'],
  [{ hasWorker: true }, null],
] as const)('an import of which nothing is sent says why: %j', ([pace, words]) => {
  expect(whyWaiting({ ...PACE, ...pace }, null)).toBe(words)
})
