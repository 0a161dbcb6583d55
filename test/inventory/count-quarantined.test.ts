import { expect, test } from 'vitest'
import { countQuarantined } from '#src/inventory/read/quarantine.ts'
import { addRun } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'

test('quarantined rows are those of the last run that read the inventory, also in part', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const inventory = { account: 'default', resource: 'alert-rules' } as const
  const count = async () => (await countQuarantined(pool, [inventory])).map(({ rows }) => rows)
  expect(await count()).toEqual([])
  await addRun(pool, { end: { quarantined: 1 } })
  await addRun(pool, { account: 'other', end: { quarantined: 9 } })
  await addRun(pool, { resource: 'mcp-servers', end: { quarantined: 8 } })
  for (const [n, status] of (['partial', 'held', 'succeeded'] as const).entries()) {
    await addRun(pool, { end: { status, quarantined: n + 2 } })
    await addRun(pool, { end: { status: 'failed', appliedAt: null } })
    expect(await count()).toEqual([n + 2])
  }
})
