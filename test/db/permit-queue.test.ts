import { expect, test } from 'vitest'
import { openPermitQueue } from '#src/db/permit-queue.ts'

const NEVER = new AbortController().signal

/** A wait that no test lives to see the end of. */
const MAX_WAIT_MS = 2_147_483_647

/** A queue whose source answers when the test says so. */
function setup() {
  type Granted = { readonly permits: readonly string[]; readonly waitMs: number }
  const rounds: { calls: string; signal: AbortSignal; answer: PromiseWithResolvers<Granted> }[] = []
  const returned: string[] = []
  const acquire = openPermitQueue<string, string>({
    acquirePermits(calls, signal) {
      const answer = Promise.withResolvers<Granted>()
      rounds.push({ calls: calls.join(''), signal, answer })
      return answer.promise
    },
    async returnUnused(permit) {
      returned.push(permit)
    },
  })
  /** Waits for a round, and gives its first `count` callers permits. */
  async function grant(round: number, count: number, waitMs = 0): Promise<string> {
    await expect.poll(() => rounds.length, { interval: 1 }).toBe(round)
    const { calls, answer } = rounds[round - 1]!
    answer.resolve({ permits: [...calls.slice(0, count)].map(call => `permit of ${call}`), waitMs })
    return calls
  }
  return { acquire, grant, rounds, returned }
}

test('callers of one moment ask together, those that come meanwhile ask together after them', async () => {
  const { acquire, grant } = setup()
  const first = ['a', 'b', 'c'].map(call => acquire(call, NEVER))
  await Promise.resolve()
  const second = ['d', 'e'].map(call => acquire(call, NEVER))
  expect(await grant(1, 3)).toBe('abc')
  expect(await Promise.all(first)).toEqual(['permit of a', 'permit of b', 'permit of c'])
  expect(await grant(2, 2)).toBe('de')
  expect(await Promise.all(second)).toEqual(['permit of d', 'permit of e'])
})

test('who got no permit asks again after the wait, ahead of those who came later', async () => {
  const { acquire, grant } = setup()
  const waiting = ['a', 'b', 'c'].map(call => acquire(call, NEVER))
  const beforeMs = performance.now()
  await grant(1, 1, 50)
  expect(await waiting[0]).toBe('permit of a')
  waiting.push(acquire('d', NEVER))
  expect(await grant(2, 3)).toBe('bcd')
  expect(performance.now() - beforeMs).toBeGreaterThan(45)
  expect(await Promise.all(waiting.slice(1))).toEqual(['permit of b', 'permit of c', 'permit of d'])
})

test('the permit of a caller that has given up is returned, and the others ask again at once', async () => {
  const { acquire, grant, returned } = setup()
  const gaveUp = new AbortController()
  const leaving = acquire('a', gaveUp.signal)
  const staying = acquire('b', NEVER)
  await Promise.resolve()
  gaveUp.abort(new Error('no longer wanted'))
  await expect(leaving).rejects.toThrow('no longer wanted')
  await grant(1, 1, MAX_WAIT_MS)
  expect(await grant(2, 1)).toBe('b')
  expect(returned).toEqual(['permit of a'])
  expect(await staying).toBe('permit of b')
})

test('one that gives up ends nothing for another that waits', async () => {
  const { acquire, grant, rounds } = setup()
  const gaveUp = new AbortController()
  const [one, other] = [acquire('a', gaveUp.signal), acquire('b', NEVER)]
  await expect.poll(() => rounds.length, { interval: 1 }).toBe(1)
  gaveUp.abort(new Error('no longer wanted'))
  await expect(one).rejects.toThrow('no longer wanted')
  expect(rounds[0]!.signal.aborted).toBe(false)
  await grant(1, 2)
  expect(await other).toBe('permit of b')
})

test('once all have given up nobody asks or waits, until another one comes', async () => {
  const { acquire, grant, rounds } = setup()
  const gaveUp = new AbortController()
  const both = ['a', 'b'].map(call => acquire(call, gaveUp.signal))
  await grant(1, 0, 60_000)
  gaveUp.abort(new Error('no longer wanted'))
  for (const one of both) await expect(one).rejects.toThrow('no longer wanted')
  expect(rounds[0]!.signal.aborted).toBe(true)
  await expect(acquire('c', gaveUp.signal)).rejects.toThrow('no longer wanted')
  const next = acquire('d', NEVER)
  expect(await grant(2, 1)).toBe('d')
  expect(await next).toBe('permit of d')
})

test('an error is that of those who asked; who came meanwhile asks', async () => {
  const { acquire, grant, rounds } = setup()
  const first = ['a', 'b'].map(call => acquire(call, NEVER))
  await Promise.resolve()
  const second = acquire('c', NEVER)
  rounds[0]!.answer.reject(new Error('the database is gone'))
  for (const one of first) await expect(one).rejects.toThrow('the database is gone')
  expect(await grant(2, 1)).toBe('c')
  expect(await second).toBe('permit of c')
})
