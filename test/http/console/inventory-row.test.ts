import { expect, test } from 'vitest'
import { fieldFacts } from '#src/http/console/parts/inventory-row.ts'
import type { InventoryRow } from '#src/inventory/history/list-inventory.ts'

test.for([
  [true, '<bdi>yes</bdi>'],
  [false, '<bdi>no</bdi>'],
  [null, '<span class="none">–</span>'],
] as const)('a flag that is %s is shown as %s', ([can_edit, shown]) => {
  const row = { account: 'a', server_id: 's', can_edit } as unknown as InventoryRow
  const facts = new Map(fieldFacts('mcp-servers', row, {}).map(([label, value]) => [label, `${value}`]))
  expect(facts.get('May be edited with the key')).toBe(shown)
})
