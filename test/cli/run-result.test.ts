import { Pool } from 'pg'
import { expect, test, vi } from 'vitest'
import { tellRun } from '#src/cli/run-due/tell.ts'
import { exitCodeOf, explainRun, isRefusal, printRuns } from '#src/cli/run-result.ts'
import { NOTHING_DONE } from '#src/inventory/runs/ledger.ts'
import type { RunResult } from '#src/model/run.ts'

test.each([
  ['Unauthorized', 400, true],
  ['AccessDenied', 200, true],
  ['NewCodeOfThePlatform', 403, true],
  ['NoEnvelope', 403, false],
  ['NoAnswer', 401, false],
  ['InternalError', 500, false],
])('%s with HTTP %i is a refusal: %s', (code, httpStatus, refused) => {
  expect(isRefusal(code, httpStatus)).toBe(refused)
})

/** A run whose error, if any, did not come of a call. */
const RUN: RunResult = {
  ...NOTHING_DONE,
  run: 7n,
  account: 'eu',
  resource: 'alert-rules',
  status: 'succeeded',
  durationMs: 1_500,
}

/** Nothing listens there: of a run without an error, nothing is asked. */
const NOWHERE = new Pool({ port: 1 })

test.for([
  ['succeeded', 0, 0],
  ['succeeded', 1, 3],
  ['partial', 0, 3],
  ['held', 0, 5],
  ['held', 1, 5],
  ['failed', 0, 1],
  ['failed', 1, 1],
  ['skipped', 0, 1],
] as const)('a run that %s with %i rows quarantined exits %i', async ([status, quarantined, code]) => {
  expect(await exitCodeOf(NOWHERE, { ...RUN, status, quarantined })).toBe(code)
})

test('a run that another process did is done, for `ferry run-due`', async () => {
  using stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  expect(await tellRun(NOWHERE, { ...RUN, status: 'skipped' }, {})).toBe(0)
  expect(
    await tellRun(NOWHERE, { ...RUN, status: 'held', seen: 4, added: 3, changed: 2, removed: 1 }, {}),
  ).toBe(5)
  expect(stdout.mock.calls.map(([line]) => line)).toEqual([
    'run 7, alert-rules of account eu: skipped, 0 listed, 0 added, 0 changed, 0 removed\n',
    'run 7, alert-rules of account eu: held, 4 listed, 3 added, 2 changed, 1 removed\n',
  ])
})

test('a table of runs has each count under its name', () => {
  using stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const counts = { seen: 11, added: 12, changed: 13, fired: 14, recovered: 15, removed: 16, unchanged: 17 }
  printRuns([{ ...RUN, ...counts, quarantined: 18, requests: 19 }])
  const [head = [], cells = []] = stdout.mock.calls
    .flatMap(([text]) => `${text}`.trimEnd().split('\n'))
    .map(line => line.trim().split(/\s{2,}/))
  expect(Object.fromEntries(head.map((name, n) => [name, cells[n]]))).toMatchObject({
    ...{ run: '7', account: 'eu', inventory: 'alert-rules', status: 'succeeded' },
    ...{
      seen: '11',
      added: '12',
      changed: '13',
      removed: '16',
      quarantined: '18',
      calls: '19',
      took: '1.5 s',
    },
  })
  expect(head).toHaveLength(cells.length)
})

test('why a run ended so is said in whole sentences', () => {
  using stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  explainRun({ ...RUN, status: 'failed', message: 'it broke', quarantined: 2, requestId: 'r-1' })
  explainRun({ ...RUN, message: 'Ends with a stop.', quarantined: 1 })
  explainRun(RUN)
  expect(stderr.mock.calls.map(([line]) => line)).toEqual([
    'ferry: account eu, alert-rules, run 7: failed. it broke. 2 rows could not be read; `ferry runs show 7` shows which. request_id r-1\n',
    'ferry: account eu, alert-rules, run 7: succeeded. Ends with a stop. 1 row could not be read; `ferry runs show 7` shows which.\n',
  ])
})
