import { expect, test } from 'vitest'
import { requestRun } from '#src/schedules/control.ts'
import { ADA } from '#test/support/acted-by.ts'
import { openTestStore } from '#test/support/store.ts'

test('a run that is asked for of all accounts is asked for of all or of none', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const schedules = ['a', 'b'].map(account => {
    return {
      schedule: 'poll-alert-rules',
      account,
      timing: { everyMs: 60_000 },
      beginsAtOnce: true,
      retryAfterMs: [],
      skippedAgainAfterMs: 0,
    }
  })
  const request = () => requestRun(pool, schedules, 'poll-alert-rules', undefined, ADA)
  const count =
    'select (select count(*)::int from ferry.schedule_slots) as slots, (select count(*)::int from ferry.audit) as acts'
  await pool.query(`alter table ferry.schedule_slots add constraint not_b check (account <> 'b')`)
  await expect(request()).rejects.toMatchObject({ code: '23514' })
  expect((await pool.query(count)).rows).toEqual([{ slots: 0, acts: 0 }])
  await pool.query('alter table ferry.schedule_slots drop constraint not_b')
  expect((await request()).map(({ key }) => key.account)).toEqual(['a', 'b'])
  expect((await pool.query(count)).rows).toEqual([{ slots: 2, acts: 2 }])
})
