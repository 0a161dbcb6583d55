import { expect, test } from 'vitest'
import { leaseNameInSql, leaseNameOf } from '#src/imports/page.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { findImport } from '#src/imports/sending/work.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { start } from './sending/start-import.ts'

test.for([
  ['account', { account: 'another' }],
  ['page', { pageId: 1n }],
  ['method', { method: 'im' }],
] as const)(
  'an import to another %s is neither before this one, nor has it sent for it',
  async ([, other]) => {
    await using store = await openTestStore()
    await stageRows(store.pool, { rows: 3, ...other, status: 'completed' })
    await stageRows(store.pool, { rows: 3, ...other })
    const id = await stageRows(store.pool, { rows: 3 })
    expect(await findImport(store.pool, id)).toMatchObject({ isBehind: false })
    await start(store, id)
    expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 0, pending: 3 })
  },
)

test('the lease of a page has the same name in SQL', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 1, account: 'another', pageId: 7n, method: 'im' })
  const { rows } = await store.pool.query(`select ${leaseNameInSql('i')} as name from ferry.imports i`)
  expect(rows).toEqual([{ name: leaseNameOf((await findImport(store.pool, id))!) }])
})
