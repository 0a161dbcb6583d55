import type { Pool } from 'pg'
import { z } from 'zod'
import type { Cell } from '#src/db/list.ts'
import { findAll } from '#src/db/rows.ts'
import { differencesOf } from '#src/inventory/history/differences.ts'
import { findPair } from '#src/inventory/history/snapshot-diff.ts'
import type { RunResult } from '#src/model/run.ts'
import { emphasised, print, printTable } from '../output.ts'
import { printRuns } from '../run-result.ts'
import { printDiff } from '../snapshots.ts'

export type Night = { readonly snapshot: bigint; readonly runs: readonly RunResult[] }

/** Prints the results of both nights, most of them with the SQL that returns them. */
export async function printTables(pool: Pool, first: Night, second: Night): Promise<void> {
  heading('Runs')
  printRuns([...first.runs, ...second.runs])

  heading('Alert rules as they are now (the first ten)')
  await printQuery(
    pool,
    `select id, name, folder_id, enabled, cron_pattern, timezone, triggered
     from ferry.alert_rules order by name limit 10`,
  )
  heading('What changed in the alert rules, and who did it')
  await printChanges(pool, second)
  heading('Rules that are firing now')
  await printQuery(
    pool,
    `select id, name, labels ->> 'severity' as severity, began from ferry.alert_rules_firing order by began, name`,
  )
  heading('MCP servers as they are now (the first ten)')
  await printQuery(
    pool,
    `select server_id, server_name, transport, status, jsonb_array_length(tools) as tools
     from ferry.mcp_servers order by server_name limit 10`,
  )
  heading(`From the first night to the second (ferry snapshots diff ${first.snapshot} ${second.snapshot})`)
  await printDiff(pool, await findPair(pool, first.snapshot, second.snapshot), { all: true })
}

const Fields = z.record(z.string(), z.unknown()).nullable()
const Change = z.object({
  change: z.string(),
  name: z.string(),
  before: Fields,
  after: Fields,
  updaterName: z.string().nullable(),
})

async function printChanges(pool: Pool, { runs }: Night): Promise<void> {
  const rows = await findAll(
    pool,
    Change,
    `select change, name, before, after, updater_name from ferry.alert_rule_changes
     where run_id = any ($1) order by change, name`,
    [runs.map(run => run.run)],
  )
  const cells = rows.map(row => [row.change, row.name, differencesOf(row.before, row.after), row.updaterName])
  print('  select * from ferry.alert_rule_changes')
  printTable(['change', 'name', 'what', 'by'], cells, 'No changes.')
}

function heading(text: string): void {
  print(`\n${emphasised(text)}`)
}

/** The type ids of int8 and numeric, whose values arrive as text. */
const WHOLE_NUMBERS = [20, 1700]

async function printQuery(pool: Pool, sql: string): Promise<void> {
  const { fields, rows } = await pool.query<unknown[]>({ text: sql, rowMode: 'array' })
  const cells = rows.map(row => row.map((value, column) => cellOf(value, fields[column]?.dataTypeID ?? 0)))
  const lines = sql.split('\n').map(line => line.trim())
  for (const line of lines) print(`  ${line}`)
  printTable(
    fields.map(field => field.name),
    cells,
    'None.',
  )
}

function cellOf(value: unknown, type: number): Cell {
  if (value === null || value === undefined) return null
  if (WHOLE_NUMBERS.includes(type)) return BigInt(String(value))
  if (value instanceof Date || typeof value === 'number' || typeof value === 'boolean') return value
  return String(value)
}
