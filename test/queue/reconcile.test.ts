import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { TimedSchedule } from '#src/queue/bells.ts'
import { openReconciler } from '#src/queue/reconcile.ts'
import { ONCE, setup } from './setup.ts'

test('a schedule whose time cannot be worked out stops no other, and is reported once', async () => {
  await using room = await setup('postgres')
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: line => lines.push(line) })
  const never: TimedSchedule = {
    schedule: 'never',
    account: 'default',
    timing: { cron: '0 0 31 4,6 *', timezone: 'UTC' },
  }
  const poll: TimedSchedule = { schedule: 'poll', account: 'default', timing: ONCE }
  const reconciler = await openReconciler({ ...room.ferry, log }, room.queue, [never, poll])
  await reconciler.look()
  await reconciler.look()
  const rung = (await room.queue.getJobs(['waiting'])).map(bell => bell.data.job)
  expect(rung).toContain('poll')
  expect(lines).toEqual([expect.stringContaining('cannot be worked out')])
})
