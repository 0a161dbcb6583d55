import { expect, test } from 'vitest'
import { freshness } from '#src/http/console/now/sections.ts'
import { cellsOf } from './cells.ts'

test('of many inventories fifty are shown, those that are late first, and the others are counted', () => {
  const inventories = Array.from({ length: 52 }, (_, n) => ({
    account: `account ${n}`,
    inventory: 'alert-rules',
    state: n === 51 ? 'late' : 'fresh',
    whyLate: n === 51 ? 'running' : null,
    ageMs: 1_000,
    targetMs: 1_000,
    lastCompleteAt: null,
    lastCompleteRun: null,
  }))
  const page = `${freshness({ inventories } as never, 'UTC')}`
  const accounts = cellsOf(page, 'Freshness').map(([account]) => account)
  expect(accounts).toHaveLength(50)
  expect(accounts.slice(0, 2)).toEqual(['account 51', 'account 0'])
  expect(page).toContain('2 more are not shown. Late ones come first.')
})
