import type { Pool } from 'pg'
import type { RunResult } from '#src/model/run.ts'
import { diffSnapshots } from '#src/store/snapshots.ts'
import { type Cell, emphasised, print, printTable } from '../output.ts'
import { printRuns } from '../run-result.ts'
import { printDifferences } from '../snapshots.ts'

export type Night = { readonly snapshot: bigint; readonly runs: readonly RunResult[] }

/** Prints what was found, most of it with the SQL anyone may type. */
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
  await printQuery(
    pool,
    `select c.change, c.id, c.name, f.field, c.before -> f.field as before, c.after -> f.field as after, c.updater_name
     from ferry.alert_rule_changes c
     left join lateral jsonb_object_keys(c.after - '{updater_id,updater_name,updated_at}'::text[]) f (field) on true
     where c.run_id > (select min(alert_rules_run) from ferry.snapshots)
     order by c.change, c.name, f.field`,
  )
  heading('Rules that fire now')
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
  printDifferences(await diffSnapshots(pool, first.snapshot, second.snapshot))
}

function heading(text: string): void {
  print(`\n${emphasised(text)}`)
}

/** The types int8 and numeric, which arrive as text, and jsonb. */
const WHOLE_NUMBERS = [20, 1700]
const JSONB = 3802

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
  if (type === JSONB) return JSON.stringify(value)
  if (value instanceof Date || typeof value === 'number' || typeof value === 'boolean') return value
  return String(value)
}
