import { expect, test } from 'vitest'
import { verdictOf } from '#src/http/console/now/verdict.ts'

const READY = { ready: true, postgres: 'ok', schema: 'ok', queue: 'ok' }
const fresh = { state: 'fresh' } as never
const late = { state: 'late' } as never
const alive = { isAlive: true } as never
const silent = { isAlive: false } as never
const WELL = { inventories: [fresh], workers: [alive, silent], holds: [], imports: [], schedules: [] }
const some = (count: number) => Array.from({ length: count }, () => ({}) as never)

test.each([
  [{}, {}, 'good', 'The inventory is fresh, one worker is alive, and nothing waits for a decision.'],
  [{ inventories: [] }, {}, 'quiet', 'No inventory was read so far.'],
  [
    { inventories: [fresh, { state: 'no promise' } as never] },
    {},
    'good',
    '1 of 2 inventories are fresh (for the others nothing is promised), one worker is alive, and nothing waits for a decision.',
  ],
  [{ workers: [silent] }, {}, 'bad', 'No worker is alive.'],
  [{ inventories: [fresh, late] }, {}, 'bad', '1 of 2 inventories is late.'],
  [{ holds: some(1) }, {}, 'warn', 'One decision waits.'],
  [{ imports: some(20) }, {}, 'warn', 'At least 20 decisions wait.'],
  [{ schedules: [{ paused: true } as never] }, {}, 'warn', 'One schedule is paused.'],
  [{ schedules: [{ lastOutcome: 'failed' } as never] }, {}, 'warn', 'One schedule failed the last time.'],
  [{}, { queue: 'The queue did not answer within 2 s.' }, 'bad', 'The queue does not answer.'],
  [{}, { schema: 'newer' }, 'bad', 'The database is of another version of Ferry.'],
  [
    { inventories: [late, late, late], workers: [], holds: some(2) },
    {},
    'bad',
    'No worker is alive, 3 of 3 inventories are late, and 2 decisions wait.',
  ],
])('of %j and %j the page Now says: %s, %s', (facts, readiness, tone, sentence) => {
  expect(verdictOf({ ...WELL, ...facts }, { ...READY, ...readiness })).toMatchObject({ tone, sentence })
})
