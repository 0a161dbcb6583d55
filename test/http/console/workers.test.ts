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

const worker = (holder: string, isAlive = true, more = {}) => ({
  ...{ holder, isAlive, host: `host of ${holder}`, pid: 7, version: '1.2.3' },
  ...{ startedAt: new Date(0), seenAt: new Date(1_000) },
  ...more,
})

test.for([
  [['one', 'two'], [RUN, { ...SLOT, holder: 'by hand' }], '2 workers alive, 1 command, 2 busy'],
  [['one'], [], '1 worker alive'],
  [[], [RUN, { ...IMPORT, holder: 'by hand' }], '2 commands, 2 busy'],
] as const)('of %j and what they do it is said how many are workers: %#', ([alive, work, words]) => {
  const all = [...alive.map(holder => worker(holder)), worker('dead', false)]
  const [silent = '', others = ''] = `${workers({ workers: all, work } as never, 'UTC')}`.split('<details')
  expect(cellsOf(silent, 'Workers')).toEqual([
    ['host of dead', '7', 'silent', 'idle', '1970-01-01 00:00:01', '1970-01-01 00:00:00', '1.2.3'],
  ])
  expect(/<summary>(.*?)<\/summary>/.exec(others)?.[1]).toBe(words)
})

test('a worker shows where it runs and when it was last seen and started; who is silent comes first, others are folded', () => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000 - 1_000)
  const startedAt = ago(150)
  const known = [
    worker('one', true, { startedAt, seenAt: ago(1) }),
    worker('two', false, { startedAt, seenAt: ago(20), pid: 8 }),
  ]
  const work = [
    { ...RUN, holder: 'command' },
    { ...IMPORT, holder: 'two' },
  ]
  const [silent = '', folded = ''] = `${workers({ workers: known, work } as never, 'UTC')}`.split('<details')
  expect(cellsOf(silent, 'Workers')).toEqual([
    ['host of two', '8', 'silent', 'sending import 8 of a', '20 min ago', '2 h 30 min ago', '1.2.3'],
  ])
  expect(folded).toContain('<summary>1 worker alive, 1 command, 1 busy</summary>')
  expect(cellsOf(folded, 'Workers')).toEqual([
    ['host of one', '7', 'alive', 'idle', '1 min ago', '2 h 30 min ago', '1.2.3'],
    ['command', '', 'command', 'reading alert-rules of a (run 7)', '', '', ''],
  ])
})
