import { pino } from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import type { AnyQueue } from '#src/queue/kind.ts'
import { backOffMs, Outage } from '#src/queue/outage.ts'
import { Producer } from '#src/queue/producer.ts'

afterEach(() => void vi.restoreAllMocks())

/** A producer of a queue of BullMQ that takes nothing while `isAway`, by a clock of its own. */
function setup() {
  const state = { isAway: false, opened: 0, asked: 0, closed: 0, ms: 0, lines: [] as string[] }
  vi.spyOn(performance, 'now').mockImplementation(() => state.ms)
  const log = pino(
    { level: 'debug' },
    { write: line => void state.lines.push(pino.levels.labels[JSON.parse(line).level] ?? '') },
  )
  const open = () => {
    state.opened += 1
    const queue: Partial<AnyQueue> = {
      waitUntilReady: async () => undefined as never,
      async add() {
        state.asked += 1
        if (state.isAway) throw new Error('away')
        return undefined as never
      },
      getBackend: () => ({
        async close() {
          state.closed += 1
        },
      }),
    }
    return queue as AnyQueue
  }
  const outage = new Outage(log, 'here')
  return { state, outage, producer: new Producer<unknown>('sync', open, outage) }
}

test('a queue that failed rests, longer after each failure, and is opened anew; a success ends that', async () => {
  const { state, producer } = setup()
  expect(await producer.add('a', {})).toBe(true)
  state.isAway = true
  expect(await producer.add('a', {})).toBe(false)
  expect(state).toMatchObject({ opened: 1, asked: 2, closed: 1 })
  for (const [atMs, asked] of [
    [249, 2],
    [250, 3],
    [749, 3],
    [750, 4],
    [1_749, 4],
  ] as const) {
    state.ms = atMs
    expect(await producer.add('a', {})).toBe(false)
    expect(state).toMatchObject({ asked, opened: asked - 1 })
  }
  state.isAway = false
  state.ms = 1_750
  expect(await producer.add('a', {})).toBe(true)
  // After a success, the first pause is the shortest again.
  state.isAway = true
  expect(await producer.add('a', {})).toBe(false)
  state.isAway = false
  state.ms = 2_000
  expect(await producer.add('a', {})).toBe(true)
  expect(state.opened).toBe(5)
  await producer.close()
  expect(state.closed).toBe(5)
})

test('after a failure a job is tried until the queue takes jobs again, and none otherwise', async () => {
  const { state, producer } = setup()
  await producer.lookAgain()
  expect(state.asked).toBe(0)
  state.isAway = true
  await producer.add('a', {})
  state.isAway = false
  state.ms = 1_000
  await producer.lookAgain()
  await producer.lookAgain()
  expect(state.asked).toBe(2)
  expect(state.lines).toEqual(['warn', 'info'])
})

test('what fails while the queue is being closed is no news', () => {
  const { state, outage } = setup()
  outage.closes()
  outage.begins('add', new Error('closed'))
  expect(state.lines).toEqual(['debug'])
})

test('the pause doubles up to five seconds', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 50].map(backOffMs)).toEqual([
    250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000,
  ])
})

test('a call that fails late leaves the queue alone that was opened in place of its own', async () => {
  const { outage, state } = setup()
  const calls: PromiseWithResolvers<never>[] = []
  let closed = 0
  const open = (): AnyQueue => {
    const queue: Partial<AnyQueue> = {
      waitUntilReady: async () => undefined as never,
      add() {
        const call = Promise.withResolvers<never>()
        calls.push(call)
        return call.promise
      },
      getBackend: () => ({
        async close() {
          closed += 1
        },
      }),
    }
    return queue as AnyQueue
  }
  const producer = new Producer<unknown>('sync', open, outage)
  const [early, late] = [producer.add('a', {}), producer.add('b', {})]
  await vi.waitFor(() => expect(calls).toHaveLength(2))
  calls[0]?.reject(new Error('away'))
  expect(await early).toBe(false)
  state.ms = 250
  const next = producer.add('c', {})
  await vi.waitFor(() => expect(calls).toHaveLength(3))
  calls[1]?.reject(new Error('away'))
  expect(await late).toBe(false)
  calls[2]?.resolve(undefined as never)
  expect(await next).toBe(true)
  const before = closed
  await producer.close()
  expect(closed).toBe(before + 1)
})
