import { expect, test } from 'vitest'
import { loadHeldRows } from '#src/inventory/list-runs.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'

const PAST = { from: '2026-01-01', to: '2026-01-02' }
const NOW = { from: '2026-01-02' }

test('held rows are shown once each, as they are now, by name, and without those of another account', async () => {
  await using store = await openTestStore()
  const { pool } = store
  for (const insert of [insertRuleVersion, insertServerVersion]) {
    await insert(pool, { id: '1', name: 'was', ...PAST })
    await insert(pool, { id: '1', name: 'b', ...NOW })
    await insert(pool, { id: '2', name: 'a', ...NOW })
    await insert(pool, { id: '2', name: 'of another', account: 'b', ...NOW })
    await insert(pool, { id: '3', name: 'gone', ...PAST })
    await insert(pool, { id: '4', name: 'not held', ...NOW })
  }
  for (const resource of ['alert-rules', 'mcp-servers'] as const) {
    const rows = await loadHeldRows(pool, { account: 'a', resource }, ['1', '2', '3'])
    expect(rows.map(({ id, name }) => `${id} ${name}`)).toEqual(['2 a', '1 b'])
  }
})
