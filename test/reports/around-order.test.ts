import { expect, test } from 'vitest'
import { loadAround } from '#src/reports/around.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'

test('what happened to the tools of one server at one moment stands in the order of their names', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { state } = harness.sandbox
  const tools = Array.from({ length: 40 }, (_, n) => ({ name: `tool ${n + 10}`, description: 'does it' }))
  for (const id of ['1', '2', '3']) state.addServer({ server_id: id, server_name: `server ${id}`, tools })
  await harness.sync({ resource: 'mcp-servers' })
  for (const id of ['1', '2', '3'])
    state.changeServer(id, {
      tools: tools.filter((_, n) => n % 2 === 0).map(one => ({ ...one, description: 'no' })),
    })
  await harness.sync({ resource: 'mcp-servers' })
  const { rows } = await loadAround(harness.ferry.pool, { at: new Date(), spanMs: 3_600_000 }, 500)
  const told = rows.flatMap(({ kind, id, before }) =>
    kind.startsWith('tool.') ? [`${kind} ${id} ${JSON.parse(before ?? '{}').tool}`] : [],
  )
  expect(told.length).toBe(120)
  expect(told).toEqual(told.toSorted())
})
