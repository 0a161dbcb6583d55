import { expect, test } from 'vitest'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { openTestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

const ACQUIRE = `select call_id as id from ferry_internal.acquire_call_permit('k', 'op', 'a', null, '{2}', '{60000}', 5000)`

test('of three workers that make the first call of a limit at once, each waits for the one before it to be counted', async () => {
  await using store = await openTestStore()
  const clients = await Promise.all([1, 2, 3].map(() => store.pool.connect()))
  const waiting = async () => {
    const { rowCount } = await store.pool.query(WAITING_FOR_LOCK)
    return rowCount
  }
  let asked = 0
  /** Asks in a transaction of its own, which stays open. */
  const asking = clients.map(async client => {
    await client.query('begin')
    const { rows } = await client.query<{ id: string | null }>(ACQUIRE)
    asked += 1
    return { client, isAllowed: rows[0]?.id !== null }
  })
  const answers: boolean[] = []
  for (const left of [2, 1, 0]) {
    await waitFor(async () => asked === 3 - left && (await waiting()) === left, {
      what: `one to be asked, and ${left} to wait`,
    })
    const next = await Promise.race(asking)
    answers.push(next.isAllowed)
    asking.splice(
      asking.findIndex((_, n) => clients[n] === next.client),
      1,
    )
    clients.splice(clients.indexOf(next.client), 1)
    await next.client.query('commit')
    next.client.release()
  }
  expect(answers).toEqual([true, true, false])
})
