import { expect, test } from 'vitest'
import { freshness, slots } from '#src/http/console/now/sections.ts'
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
  expect(folded).toContain('1 more is not shown.')
  expect(open).toContain('Why it is late')
  expect(folded).not.toContain('Why it is late')
})

test('an inventory whose listing was not complete leads to the run, and names its request', () => {
  const inventory = {
    account: 'default',
    inventory: 'alert-rules',
    state: 'late',
    whyLate: 'partial',
    ageMs: 1_000,
    targetMs: 1_000,
    lastCompleteAt: null,
    lastCompleteRun: null,
    lastFailedRun: 7n,
    errorCode: null,
    requestId: 'request-7',
    hasWorker: true,
  }
  const page = `${freshness({ inventories: [inventory] } as never, 'UTC')}`
  expect(page).toContain('<a href="/ledger/runs/7">Run 7</a>')
  expect(page).toContain('/ledger/calls?request_id=request-7')
})

test('of the schedules that are neither failed nor paused, those come first that are due next', () => {
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000)
  const usual = { account: '*', paused: false, lastSlot: null, lastOutcome: null }
  const schedules = [
    { ...usual, name: 'later', nextAt: inMinutes(9) },
    { ...usual, name: 'soon', nextAt: inMinutes(1) },
    { ...usual, name: 'paused', paused: true, nextAt: null },
    { ...usual, name: 'failed', lastOutcome: 'failed', nextAt: inMinutes(5) },
    { ...usual, name: 'next', nextAt: inMinutes(5) },
  ]
  const [open = '', folded = ''] = `${slots({ schedules } as never, 'UTC')}`.split('<details')
  const namesIn = (of: string) => cellsOf(of, 'Schedules').map(([name]) => name)
  expect([namesIn(open), namesIn(folded)]).toEqual([
    ['failed', 'paused'],
    ['soon', 'next', 'later'],
  ])
})
