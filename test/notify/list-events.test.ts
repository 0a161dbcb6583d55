import { expect, test } from 'vitest'
import { countUndelivered } from '#src/notify/list-events.ts'
import { openNotifyHarness } from './notify-harness.ts'

test('messages are counted as waiting, behind or dead; behind only those that the receiver wants', async () => {
  await using harness = await openNotifyHarness()
  const { pool } = harness.ferry
  const raised = async (account: string, set: string) => {
    for (const kind of ['import.paused', 'import.undecided'] as const) await harness.raise({ kind, account })
    await harness.query(`update ferry.events set ${set} where account = $1`, [account])
  }
  await raised('behind', 'attempts = 0')
  await raised('waiting', 'attempts = 1')
  await raised('dead', `attempts = 1, at = at - interval '25 h'`)
  await raised('never tried', `at = at - interval '25 h'`)
  await raised('forgotten', `attempts = 1, at = at - interval '8 days'`)
  await raised('delivered', 'attempts = 2, delivered_at = clock_timestamp()')
  expect(await countUndelivered(pool)).toEqual({ waiting: 2, behind: 2, dead: 2 })
  expect(await countUndelivered(pool, ['import.paused'])).toEqual({ waiting: 2, behind: 1, dead: 2 })
})
