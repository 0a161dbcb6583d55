import { expect, test } from 'vitest'
import type { SERVER_SORTS } from '#src/inventory/history/list-order.ts'
import { loadServerPage } from '#src/inventory/history/server-page.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertServerVersion } from '#test/support/versions.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))

test('servers stand in the order that is asked for, on pages of any size, those without a name or a team first', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await insertServerVersion(pool, { id: '1', name: 'beta', team: 10, from: at(3) })
  await insertServerVersion(pool, { id: '2', name: 'Alpha', team: 9, from: at(2) })
  await insertServerVersion(pool, { id: '10', name: 'alpha', from: at(1) })
  await insertServerVersion(pool, { account: 'b', id: '0', name: 'ALPHA', team: 9, from: at(2) })
  await insertServerVersion(pool, { account: 'b', id: '3', name: 'nameless', team: 9, from: at(9) })
  await insertServerVersion(pool, { id: '4', name: 'gone', from: at(0), to: at(5) })
  await pool.query(`update ferry.mcp_server_versions set server_name = null where server_id = '3'`)
  const inOrder = async (sort: (typeof SERVER_SORTS)[number] | undefined, rows: number) => {
    const all: string[] = []
    for (let after = null; ; ) {
      const page = await loadServerPage(pool, { sort }, after, rows)
      expect(page.rows.length).toBeLessThanOrEqual(rows)
      all.push(...page.rows.map(({ account, server_id: id }) => `${account}/${id}`))
      if (page.next === null) return all
      after = page.next
    }
  }
  const byName = ['b/3', 'a/10', 'a/2', 'b/0', 'a/1']
  for (const rows of [1, 2, 5]) {
    expect(await inOrder(undefined, rows)).toEqual(byName)
    expect(await inOrder('name', rows)).toEqual(byName)
    expect(await inOrder('team', rows)).toEqual(['a/10', 'b/3', 'a/2', 'b/0', 'a/1'])
    expect(await inOrder('updated', rows)).toEqual(['b/3', 'a/1', 'b/0', 'a/2', 'a/10'])
  }
})

test('a server is listed with what it was at the moment, and how many tools are recorded, if any ever were', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const more = { team: 7, status: 'enabled', auth: 'shared' }
  await insertServerVersion(pool, {
    ...more,
    id: 's',
    name: 'x'.repeat(501),
    from: at(1),
    to: at(3),
    tools: [{ name: 'a' }, { name: 'b' }],
  })
  await insertServerVersion(pool, { id: 's', name: 'now', from: at(3), tools: null })
  await pool.query(`update ferry.mcp_server_versions set transport = 'http' where valid_to is not null`)
  const rowsOf = async (asOf?: Date) => (await loadServerPage(pool, { asOf }, null, 9)).rows
  expect(await rowsOf(at(2))).toEqual([
    {
      account: 'a',
      server_id: 's',
      server_name: 'x'.repeat(500),
      team_id: '7',
      status: 'enabled',
      transport: 'http',
      auth_mode: 'shared',
      valid_from: at(1),
      tools: 2,
      place: ['x'.repeat(500), 'a', 's', '7', '2026-01-01T00:01:00.000000Z'],
    },
  ])
  expect(await rowsOf()).toEqual([
    {
      account: 'a',
      server_id: 's',
      server_name: 'now',
      team_id: null,
      status: null,
      transport: null,
      auth_mode: null,
      valid_from: at(3),
      tools: null,
      place: ['now', 'a', 's', '-1', '2026-01-01T00:03:00.000000Z'],
    },
  ])
})
