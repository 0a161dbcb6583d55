import type { Client } from 'pg'
import { REPORTS, type Report } from '#src/reports/catalogue.ts'
import { atMost, type Figure, percentile } from './support/figures.ts'
import { openFilledDatabase } from './support/filled-database.ts'
import type { Bench } from './support/lab.ts'

const RUNS = 20

/** The plans of a prepared statement: made for its arguments, or for any. */
const PLANS = { force_custom_plan: 'plan for its arguments', force_generic_plan: 'generic plan' } as const

/**
 * How quickly each report answers with all of its rows, as `ferry report` asks for it without options, and, where it takes
 * one, for two nights.
 */
export const reports: Bench = async lab => {
  const { client } = await openFilledDatabase(lab)
  const figures: Figure[] = []
  for (const [mode, plan] of Object.entries(PLANS)) {
    await client.query(`set plan_cache_mode = ${mode}`)
    for (const { name, text, values } of REPORTS.flatMap(waysToAsk)) {
      const { tookMs, rows } = await timesOf(client, { name: `${name} ${mode}`, text, values })
      const measure = `${name}, ${plan}, ${rows} rows: p95`
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

type Asked = { readonly name: string; readonly text: string; readonly values: readonly (string | null)[] }

function waysToAsk({ name, query, takes, ofNight }: Report): readonly Asked[] {
  const now = { name, text: query, values: takes.map(() => null) }
  return ofNight === undefined
    ? [now]
    : [
        now,
        ...NIGHTS.map(([when, date]) => ({
          name: `${name} of ${when}`,
          text: ofNight,
          values: [null, date],
        })),
      ]
}

const NIGHTS = [
  ['last night', nightBefore(1)],
  ['a night half a year ago', nightBefore(180)],
] as const

function nightBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
}

async function timesOf(client: Client, asked: Asked): Promise<{ tookMs: number[]; rows: number }> {
  const query = { ...asked, values: [...asked.values], rowMode: 'array' }
  const tookMs: number[] = []
  let rows = 0
  for (let run = 0; run < RUNS; run++) {
    const startedAtMs = performance.now()
    rows = (await client.query(query)).rows.length
    tookMs.push(performance.now() - startedAtMs)
  }
  return { tookMs, rows }
}
