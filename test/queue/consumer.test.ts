import type { Job } from 'bullmq'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { Consumer } from '#src/queue/consumer.ts'
import type { QueueWorker, WakeUpProcessor } from '#src/queue/kind.ts'
import { Outage } from '#src/queue/outage.ts'

/*
 * What no test of a real queue can time: a wake-up that arrives after the stop, and a worker that is refused. Everything else
 * is tested with BullMQ, in test/jobs/ and test/worker/.
 */

test('a wake-up that comes after the stop is given back to the queue, and not processed', async () => {
  const processed: string[] = []
  const back: unknown[] = []
  const running = Promise.withResolvers<void>()
  let handed: WakeUpProcessor<unknown> | undefined
  const consumer = await Consumer.open<unknown>({
    what: 'a queue',
    outage: new Outage(pino({ level: 'silent' }), 'Postgres'),
    process: async job => {
      processed.push(job.name)
      return 'done'
    },
    open: process => {
      handed = process
      const worker: Partial<QueueWorker> = {
        waitUntilReady: async () => undefined as never,
        run: () => running.promise,
        pause: async () => undefined,
        close: async () => running.resolve(),
      }
      return worker as QueueWorker
    },
  })
  const job = (name: string) =>
    ({ name, moveToWait: async (token: string) => void back.push([name, token]) }) as unknown as Job<unknown>
  const { signal } = new AbortController()
  await handed?.(job('before'), 't1', signal)
  await consumer.stop()
  await expect(handed?.(job('after'), 't2', signal)).rejects.toThrow()
  expect(processed).toEqual(['before'])
  expect(back).toEqual([['after', 't2']])
  await consumer.close()
})

test('a worker that does not become ready is closed before another takes its place', async () => {
  const states: string[] = []
  const running = Promise.withResolvers<void>()
  const consumer = await Consumer.open<unknown>({
    what: 'a queue',
    outage: new Outage(pino({ level: 'silent' }), 'Postgres'),
    process: async () => 'done',
    open: () => {
      const nth = states.filter(state => state.startsWith('opened')).length + 1
      states.push(`opened ${nth}`)
      const worker: Partial<QueueWorker> = {
        async waitUntilReady() {
          if (nth === 1) throw new Error('refused')
          return undefined as never
        },
        run: () => running.promise,
        pause: async () => undefined,
        async close(force) {
          states.push(`closed ${nth}${force ? ' without waiting' : ''}`)
          if (nth === 2) running.resolve()
        },
      }
      return worker as QueueWorker
    },
  })
  expect(states).toEqual(['opened 1', 'closed 1 without waiting', 'opened 2'])
  await consumer.stop()
  await consumer.close()
  expect(states.slice(3)).toEqual(['closed 2 without waiting'])
})
