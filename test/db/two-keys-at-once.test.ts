import { expect, test } from 'vitest'
import { createThrottle } from '#src/db/call-log.ts'
import { OwnCall } from '#src/db/known-database.ts'
import type { Call } from '#src/model/call.ts'
import type { Limit } from '#src/model/limit.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

/* A rolling restart that changes a `limitGroup`: two processes begin at one instant, and count the calls of one account under two keys. */

const windows = [{ maxCalls: 10, windowMs: 60_000 }]

/** A process with settings of its own; `ask` asks for permits of these accounts, in this order, and waits for none. */
function openProcess(store: TestStore, limit: Limit) {
  const pool = store.openPool()
  const stopping = new AbortController()
  const options = { limitOf: () => limit, arrivalBoundMs: 5_000, ownCall: new OwnCall() }
  const throttle = createThrottle(pool, { ...options, noticeDatabase: async () => {} })
  return {
    ask(...accounts: readonly string[]): Promise<unknown> {
      const asked = accounts.map(account => {
        const call: Call = { account, operation: 'list-alert-rules', runId: null }
        return throttle.acquirePermit(call, stopping.signal)
      })
      return Promise.allSettled(asked)
    },
    connect: () => pool.query('select'),
    stop: () => stopping.abort(new Error('stopped')),
  }
}

const many = (...accounts: string[]) => Array.from({ length: 20 }, () => accounts).flat()

test.for([
  ['an account', ['a'], ['a']],
  ['accounts in another order', ['a', 'b'], ['b', 'a']],
  ['an account beside others', ['a', 'b'], ['a', 'c']],
] as const)('two keys of %s, asked at one instant, let through what one does', async ([, one, other]) => {
  await using store = await openTestStore()
  for (let round = 1; round <= 5; round++) {
    // Its own, because those who are stopped may still record calls, and give them back.
    const ofRound = (accounts: readonly string[]) => accounts.map(account => `${account}${round}`)
    const [mine, others] = [ofRound(one), ofRound(other)]
    const first = openProcess(store, { limitKey: `account:old${round}`, windows, accounts: mine })
    const second = openProcess(store, { limitKey: `account:new${round}`, windows, accounts: others })
    await Promise.all([first.connect(), second.connect()])
    const asked = [first.ask(...many(...mine)), second.ask(...many(...others))]
    const count = async () => {
      const sql = 'select from ferry.platform_calls where account = any ($1)'
      return (await store.pool.query(sql, [[...mine, ...others]])).rowCount ?? 0
    }
    await waitFor(async () => (await count()) >= 10, { what: 'the permits' })
    // Whoever was asking has asked.
    await store.pool.query('select from ferry.platform_limits for update')
    expect(await count()).toBe(10)
    first.stop()
    second.stop()
    await Promise.all(asked)
  }
})
