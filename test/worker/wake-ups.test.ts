import { expect, test } from 'vitest'
import { enqueueSchedule } from '#src/worker/wake-ups.ts'

test('of one schedule of one account the queue takes a wake-up every three seconds, whatever else it takes then', async () => {
  const taken = new Set<string>()
  const queue = {
    async add(_: string, __: unknown, id = '') {
      const isNew = !taken.has(id)
      taken.add(id)
      return isNew
    },
  }
  const wake = (schedule: string, account: string, seconds: number) =>
    enqueueSchedule(queue, { schedule, account }, new Date(seconds * 1_000))
  expect(await wake('poll', 'one', 3)).toBe(true)
  expect(await wake('poll', 'one', 5.999)).toBe(false)
  expect(await wake('poll', 'two', 5.999)).toBe(true)
  expect(await wake('prune', 'one', 5.999)).toBe(true)
  expect(await wake('poll', 'one', 6)).toBe(true)
})
