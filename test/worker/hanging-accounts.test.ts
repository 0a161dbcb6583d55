import { describe, expect, test } from 'vitest'
import { createWorkLimit } from '#src/model/work-limit.ts'
import { waitFor } from '../support/wait-for.ts'
import { BACKENDS, openGate, openQueueHarness, reconcileOften, testJob } from './queue-harness.ts'

const HANGING = Array.from({ length: 9 }, (_, index) => `hanging-${index}`)

describe.each(BACKENDS)('accounts whose platform hangs, on %s,', kind => {
  test('do not delay the others, however many they are', async () => {
    await using harness = await openQueueHarness(kind, { accounts: [...HANGING, 'well'] })
    const gate = openGate()
    const hang = (account: string, signal: AbortSignal) =>
      account === 'well' ? Promise.resolve({ status: 'succeeded' } as const) : gate.pass(signal)
    const poll = testJob({
      name: 'poll',
      timing: { everyMs: 1_000 },
      run: (_, { account }, signal) => hang(account, signal),
    })
    await harness.work([poll], reconcileOften)
    const callsOf = (account: string) => poll.calls.filter(call => call.account === account).length
    await waitFor(() => HANGING.every(account => callsOf(account) > 0), {
      what: 'all to hang',
    })
    const before = callsOf('well')
    await waitFor(() => callsOf('well') >= before + 3, {
      what: 'three polls of the other',
    })
    expect(Math.max(...HANGING.map(callsOf))).toBeLessThanOrEqual(4)
    gate.release()
  })
})

test('work beyond the limit waits its turn, and goes on after a failure', async () => {
  const limit = createWorkLimit(2)
  let underWay = 0
  let most = 0
  const order: number[] = []
  const work = (n: number) =>
    limit(async () => {
      underWay += 1
      most = Math.max(most, underWay)
      order.push(n)
      await new Promise(resolve => setImmediate(resolve))
      underWay -= 1
      if (n === 1) throw new Error('failed')
    }).catch(() => {})
  await Promise.all([0, 1, 2, 3, 4, 5].map(work))
  expect(most).toBe(2)
  expect(order).toEqual([0, 1, 2, 3, 4, 5])
  await Promise.all([6, 7, 8].map(work))
  expect(most).toBe(2)
})
