import { expect, test } from 'vitest'
import { setOpenEvents } from '#src/db/outbox.ts'
import { inTransaction } from '#src/db/pool.ts'
import { openTestStore } from '#test/support/store.ts'

test('what becomes true of one account is told, and what ends, whatever is open for another', async () => {
  await using store = await openTestStore()
  const set = (...names: string[]) =>
    inTransaction(store.pool, client =>
      setOpenEvents(
        client,
        'inventory.late',
        names.map(account => ({ account, subject: 'alert-rules', data: {} })),
      ),
    )
  await set('a')
  await set('a', 'b')
  await set('b')
  const { rows } = await store.pool.query('select account, state, is_open from ferry.events order by id')
  expect(rows).toEqual([
    { account: 'a', state: 'raised', is_open: false },
    { account: 'b', state: 'raised', is_open: true },
    { account: 'a', state: 'resolved', is_open: false },
  ])
  await set('a', 'b')
  const again = await store.pool.query("select state from ferry.events where account = 'a' and is_open")
  expect(again.rows).toEqual([{ state: 'raised' }])
})
