import type { Client } from 'pg'
import { REPORTS, type Report } from '#src/reports/catalogue.ts'
import { atMost, type Figure, percentile } from './support/figures.ts'
import { openFilledDatabase } from './support/filled-database.ts'
import type { Bench } from './support/lab.ts'

const RUNS = 20

/** The plans of a prepared statement: made for its arguments, or for any. */
const PLANS = { force_custom_plan: 'plan for its arguments', force_generic_plan: 'generic plan' } as const

/** How quickly each report answers with all of its rows, as `ferry report` asks for it without options. */
export const reports: Bench = async lab => {
  const { client } = await openFilledDatabase(lab)
  const figures: Figure[] = []
  for (const [mode, plan] of Object.entries(PLANS)) {
    await client.query(`set plan_cache_mode = ${mode}`)
    for (const report of REPORTS) {
      const { tookMs, rows } = await timesOf(client, report, `${report.name} ${mode}`)
      const measure = `${report.name}, ${plan}, ${rows} rows: p95`
      figures.push({
        measure,
        value: percentile(tookMs, 0.95),
        unit: 'ms',
        wanted: atMost(300),
        rounds: { tookMs },
      })
    }
  }
  return figures
}

async function timesOf(
  client: Client,
  report: Report,
  name: string,
): Promise<{ tookMs: number[]; rows: number }> {
  const query = {
    name,
    text: report.query,
    values: report.takes.map(() => null),
    rowMode: 'array',
  }
  const tookMs: number[] = []
  let rows = 0
  for (let run = 0; run < RUNS; run++) {
    const startedAtMs = performance.now()
    rows = (await client.query(query)).rows.length
    tookMs.push(performance.now() - startedAtMs)
  }
  return { tookMs, rows }
}
