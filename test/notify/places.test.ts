import { expect, test } from 'vitest'
import { pageOf } from '#src/notify/places.ts'

const about = { kind: 'run.failing', account: 'team c' } as const

test.each([
  [{ ...about, data: { run: '7' } }, '/ledger/runs/7'],
  [{ ...about, data: {} }, '/'],
  [{ ...about, kind: 'inventory.late', data: { run: '7' } }, '/'],
  [{ ...about, kind: 'night.missed', data: { run: '7' } }, '/ledger/snapshots'],
  [{ ...about, kind: 'removals.held', data: { run: '7' } }, '/ledger/holds/7'],
  [{ ...about, kind: 'removals.held', data: {} }, '/ledger/holds'],
  [{ ...about, kind: 'mcp.tools.changed', data: { run: '7' } }, '/mcp/changes'],
  [{ ...about, kind: 'import.paused', data: { import: '3', run: '7' } }, '/imports/3'],
  [{ ...about, kind: 'rule.changed', data: { run: '7', rules: 1, ruleIds: ['18'] } }, '/rules/team%20c/18'],
  [{ ...about, kind: 'rule.changed', data: { run: '7', rules: 2, ruleIds: ['18', '19'] } }, '/ledger/runs/7'],
] as const)('the page of %j', (event, page) => {
  expect(pageOf(event)).toBe(page)
})
