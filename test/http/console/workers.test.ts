import { expect, test } from 'vitest'
import { workers } from '#src/http/console/now/workers.ts'
import type { Work } from '#src/reports/now.ts'
import { cellsOf } from './cells.ts'

const SINCE = new Date()
const RUN: Work = {
  holder: 'one',
  kind: 'run',
  account: 'a',
  name: 'alert-rules',
  number: 7n,
  since: SINCE,
}
const SLOT: Work = { ...RUN, kind: 'schedule', name: 'poll-alert-rules', number: null }
const IMPORT: Work = { ...RUN, kind: 'import', name: '3001', number: 8n }

/** What a command that works in its own process is said to do. */
const doing = (...work: Work[]) =>
  cellsOf(`${workers({ workers: [], work } as never, 'UTC')}`, 'Workers').map(cells => cells[3])

test('a schedule is left out beside the run that it set off, and shown beside a run of another account', () => {
  expect(doing(RUN, SLOT)).toEqual(['reading alert-rules of a (run 7)'])
  expect(doing(RUN, { ...SLOT, account: 'b' })).toEqual([
    expect.stringMatching(/^reading alert-rules of a \(run 7\)\s*poll-alert-rules of b$/),
  ])
})

test('an import hides no schedule of its account', () => {
  expect(doing(IMPORT, SLOT)).toEqual([
    expect.stringMatching(/^sending import 8 of a\s*poll-alert-rules of a$/),
  ])
})
