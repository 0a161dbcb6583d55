import { expect, test } from 'vitest'
import { verdictOf } from '#src/http/console/now/verdict.ts'
import type { WhyStuck } from '#src/imports/reporting/stuck.ts'

const READY = { ready: true, postgres: 'ok', schema: 'ok', queue: 'ok' }
const fresh = { state: 'fresh' } as never
const late = { state: 'late' } as never
const alive = { isAlive: true } as never
const silent = { isAlive: false } as never
const WELL = {
  inventories: [fresh],
  workers: [alive, silent],
  holds: [],
  imports: [],
  running: [],
  stuck: [],
  schedules: [],
  databaseChanges: [],
}
const running = (id: string, failures = 0) => ({ id, sent: 1_000, toBeSent: 2_500, failures })
const stuck = (id: string, why: WhyStuck) => ({ id, why, idleMs: 1_200_000 }) as never
const some = (count: number) => Array.from({ length: count }, () => ({}) as never)

test.each([
  [{}, {}, 'good', 'The inventory is fresh, one worker is alive, and nothing waits for a decision.'],
  [{ inventories: [] }, {}, 'quiet', 'No inventory has been read yet.'],
  [
    { inventories: [fresh, { state: 'no target' } as never] },
    {},
    'good',
    '1 of 2 inventories is fresh (the others have no freshness target), one worker is alive, and nothing waits for a decision.',
  ],
  [{ workers: [silent] }, {}, 'bad', 'No worker is alive.'],
  [{ inventories: [fresh, late] }, {}, 'bad', '1 of 2 inventories is late.'],
  [{ holds: some(1) }, {}, 'warn', 'One decision waits.'],
  [{ imports: some(20) }, {}, 'warn', 'At least 20 decisions wait.'],
  [{ holds: some(20), imports: some(1) }, {}, 'warn', 'At least 21 decisions wait.'],
  [{ schedules: [{ paused: true } as never] }, {}, 'warn', 'One schedule is paused.'],
  [
    { databaseChanges: [{ cause: 'timeline', missingSince: new Date(0), noticedAt: new Date() } as const] },
    {},
    'warn',
    'Rows written since 1970-01-01T00:00:00.000Z may be missing, because the database was restored or replaced.',
  ],
  [
    { databaseChanges: [{ cause: 'timeline', missingSince: null, noticedAt: new Date(0) } as const] },
    {},
    'good',
    expect.stringContaining('nothing waits for a decision'),
  ],
  [{ schedules: [{ lastOutcome: 'failed' } as never] }, {}, 'warn', 'One schedule failed last time.'],
  [{ stuck: [stuck('7', 'no worker')] }, {}, 'bad', 'No worker sends import 7.'],
  [
    { stuck: [stuck('7', 'no worker'), stuck('8', 'no progress'), stuck('9', 'calls fail')] },
    {},
    'bad',
    'No worker sends import 7, and import 8 has sent no row for 20 min.',
  ],
  [{ stuck: [stuck('9', 'calls fail')] }, {}, 'good', expect.stringContaining('one worker is alive')],
  [{ stuck: [stuck('7', 'no worker')], workers: [silent] }, {}, 'bad', 'No worker is alive.'],
  [{ stuck: ['1', '2', '3', '4'].map(id => stuck(id, 'no worker')) }, {}, 'bad', '4 imports do not go on.'],
  [
    { running: [running('7')] },
    {},
    'good',
    'The inventory is fresh, one worker is alive, import 7 has sent 1,000 of 2,500 rows, and nothing waits for a decision.',
  ],
  [
    { running: [running('7', 8)] },
    {},
    'warn',
    'The last 8 calls of import 7 failed, and import 7 has sent 1,000 of 2,500 rows.',
  ],
  [
    { running: [running('2', 1), running('3'), running('4'), running('5')] },
    {},
    'warn',
    'The last call of import 2 failed, and 4 imports are running.',
  ],
  [
    { running: [running('2', 1), running('3', 1), running('4', 2), running('5', 2)], holds: some(1) },
    {},
    'warn',
    'The last calls of 4 imports failed, one decision waits, and 4 imports are running.',
  ],
  [
    { running: Array.from({ length: 20 }, (_, n) => running(`${n}`)) },
    {},
    'good',
    'The inventory is fresh, one worker is alive, at least 20 imports are running, and nothing waits for a decision.',
  ],
  [
    { inventories: [], running: [running('7')] },
    {},
    'quiet',
    'No inventory has been read yet, and import 7 has sent 1,000 of 2,500 rows.',
  ],
  [{}, { queue: 'The queue did not answer within 2 s.' }, 'bad', 'The queue does not answer.'],
  [{}, { schema: null, queue: 'The queue did not answer within 2 s.' }, 'bad', 'The queue does not answer.'],
  [{}, { schema: 'newer' }, 'bad', 'The database belongs to another version of Ferry.'],
  [
    { inventories: [late, late, late], workers: [], holds: some(2) },
    {},
    'bad',
    'No worker is alive, 3 of 3 inventories are late, and 2 decisions wait.',
  ],
])('of %j and %j the page Now says: %s, %s', (facts, readiness, tone, sentence) => {
  expect(verdictOf({ ...WELL, ...facts }, { ...READY, ...readiness })).toMatchObject({ tone, sentence })
})

test.each([
  [{}, 'All right'],
  [{ inventories: [] }, 'Nothing yet'],
  [{ workers: [] }, 'Needs attention'],
  [{ holds: some(1) }, 'Decision needed'],
  [{ imports: some(1) }, 'Decision needed'],
  [{ schedules: [{ paused: true } as never] }, 'Heads-up'],
])('of %j the badge says: %s', (facts, word) => {
  expect(verdictOf({ ...WELL, ...facts }, READY).word).toBe(word)
})
