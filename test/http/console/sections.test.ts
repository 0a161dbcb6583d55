import { expect, test } from 'vitest'
import { freshness } from '#src/http/console/now/sections.ts'
import { cellsOf } from './cells.ts'

test('what is late is shown, and the others are folded: fifty of them, and the rest is counted', () => {
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
  const [open = '', folded = ''] = page.split(
    '<details class="fold" id="fresh"><summary>51 inventories fresh</summary>',
  )
  const accountsIn = (of: string) => cellsOf(of, 'Freshness').map(([account]) => account)
  expect(accountsIn(open)).toEqual(['account 51'])
  expect(accountsIn(folded)).toHaveLength(50)
  expect(folded).toContain('1 more are not shown.')
  expect(open).toContain('Why it is late')
  expect(folded).not.toContain('Why it is late')
})
