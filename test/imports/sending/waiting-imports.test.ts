import { expect, test } from 'vitest'
import { leaseNameOf } from '#src/imports/page.ts'
import { listWaitingImports } from '#src/imports/sending/waiting-imports.ts'
import { findImport } from '#src/imports/sending/work.ts'
import { holdLease } from '#test/support/leases.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

test('imports that could be sent now wait: the new ones first, then those that were served longest ago', async () => {
  await using store = await openTestStore()
  const ids: bigint[] = []
  for (let n = 1; n <= 6; n++) {
    const account = n === 6 ? 'another' : 'default'
    ids.push(await stageRows(store.pool, { rows: 1, pageId: BigInt(n), account }))
  }
  const [late, early, fresh, sent, backingOff, others] = ids as [
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  const set = (id: bigint, columns: string) =>
    store.pool.query(`update ferry.imports set ${columns} where id = $1`, [id])
  await set(late, `served_at = now() - interval '1 minute', retry_at = now() - interval '1 minute'`)
  await set(early, `served_at = now() - interval '2 minutes'`)
  await set(backingOff, `retry_at = now() + interval '1 hour'`)
  await holdLease(store.pool, leaseNameOf((await findImport(store.pool, sent))!))
  expect(await listWaitingImports(store.pool, ['default'])).toEqual([fresh, early, late])
  expect(await listWaitingImports(store.pool, ['another'])).toEqual([others])
})
