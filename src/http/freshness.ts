import { explainLateness, type Freshness, isLate } from '#src/reports/freshness.ts'

/** The answer to `/freshness`: each inventory as `ferry freshness --json` prints it. */
export type FreshnessAnswer = {
  readonly fresh: boolean
  readonly inventories: readonly object[]
  readonly error?: string
}

/** Fresh is: something was promised or read, and nothing is late. `rows` is null if Postgres did not answer. */
export function freshnessAnswer(rows: readonly Freshness[] | null): FreshnessAnswer {
  if (rows === null) return { fresh: false, inventories: [], error: 'Postgres did not answer.' }
  return {
    fresh: rows.length > 0 && !rows.some(isLate),
    inventories: rows.map(row => ({ ...row, message: explainLateness(row) })),
  }
}
