import { expect, test } from 'vitest'
import { REPORTS } from '#src/reports/catalogue.ts'
import { runReport } from '#src/reports/run-report.ts'
import { openTwoAccounts } from './two-accounts.ts'

const LONG_AGO = new Date('2025-01-01')

test('each report of one account has the rows of that account, and of no other', async () => {
  await using store = await openTwoAccounts()
  const empty: string[] = []
  for (const report of REPORTS) {
    const rowsOf = async (account: string | null) => {
      const { columns, rows } = await runReport(store.pool, report, {
        ...(account && { account }),
        since: LONG_AGO,
      })
      return rows.map(row => Object.fromEntries(columns.map((column, n) => [column, row[n]])))
    }
    const all = await rowsOf(null)
    // A limit that two share has both.
    const ofAccounts = all.filter(({ account }) => `${account}`.split(', ').includes('default'))
    if (ofAccounts.length === 0) empty.push(report.name)
    else expect((await rowsOf('default')).length, report.name).toBe(ofAccounts.length)
    expect(await rowsOf('nobody'), report.name).toEqual([])
  }
  expect(empty, 'mass-edits.test.ts asks it').toEqual(['mass_edits'])
})
