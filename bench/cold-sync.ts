import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { syncInventory } from '#src/inventory/sync.ts'
import { fetchAndParse, rulesFetcher } from './support/fetch-rules.ts'
import { atMost, median } from './support/figures.ts'
import { type Bench, NEVER, settingsFor } from './support/lab.ts'
import { timed } from './support/measure.ts'

/**
 * The first sync of a large account, from the request to the commit, against the least that could be done: the same
 * body fetched, JSON.parse, one COPY of the contract's columns into a table without indexes.
 */
export const coldSync: Bench = async lab => {
  const rules = lab.size(100_000, 5_000)
  const sandbox = await lab.openSandbox({ rules, hugeIds: 0 })
  const databaseUrl = await lab.openDatabase()
  const ferry = await lab.openFerry(settingsFor(databaseUrl, sandbox))
  const client = await lab.connect(databaseUrl)
  const listing = rulesFetcher(lab, sandbox)
  await client.query(`create table floor (${COLUMNS.map(([name, type]) => `${name} ${type}`).join(', ')})`)
  await listing.fetchPacked() // the sandbox makes and packs the body once

  const floors: number[] = []
  const syncs: number[] = []
  for (let round = 0; round < lab.size(5, 1); round++) {
    await empty(client)
    floors.push(
      await timed(async () => {
        await copyPlainly(client, (await fetchAndParse(listing)) as WireRule[])
      }),
    )
    await empty(client)
    syncs.push(
      await timed(async () => {
        const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
        const run = await syncInventory(ferry, request, NEVER)
        if (run.added !== rules) throw new Error(`the sync added ${run.added} of ${rules}: ${run.message}`)
      }),
    )
  }
  return [
    {
      measure: `cold sync of ${rules} rules`,
      value: median(syncs) / 1000,
      floor: median(floors) / 1000,
      rounds: { syncs, floors },
      unit: 's',
      wanted: atMost(1.3, { must: 1.6 }),
    },
  ]
}

type WireRule = Readonly<Record<string, unknown>>

const COLUMNS = [
  ['id', 'numeric(20,0)'],
  ['account_id', 'numeric(20,0)'],
  ['folder_id', 'numeric(20,0)'],
  ['name', 'text'],
  ['labels', 'jsonb'],
  ['ds_type', 'text'],
  ['enabled', 'boolean'],
  ['debug_log_enabled', 'boolean'],
  ['cron_pattern', 'text'],
  ['timezone', 'text'],
  ['delay_seconds', 'bigint'],
  ['creator_id', 'numeric(20,0)'],
  ['creator_name', 'text'],
  ['updater_id', 'numeric(20,0)'],
  ['updater_name', 'text'],
  ['created_at', 'bigint'],
  ['updated_at', 'bigint'],
  ['triggered', 'boolean'],
] as const

async function copyPlainly(client: Client, rules: readonly WireRule[]): Promise<void> {
  const columns = COLUMNS.map(([name]) => name).join(', ')
  const copy = client.query(copyFrom(`copy floor (${columns}) from stdin`))
  await pipeline(Readable.from(linesOf(rules), { objectMode: false }), copy)
}

function* linesOf(rules: readonly WireRule[]): Generator<Buffer> {
  for (let from = 0; from < rules.length; from += 500) {
    yield Buffer.from(
      rules
        .slice(from, from + 500)
        .map(lineOf)
        .join(''),
    )
  }
}

function lineOf(rule: WireRule): string {
  let line = ''
  for (const [name] of COLUMNS) line += `${line && '\t'}${fieldOf(rule[name])}`
  return `${line}\n`
}

function fieldOf(value: unknown): string {
  if (value === undefined || value === null) return '\\N'
  if (typeof value !== 'string' && typeof value !== 'object') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /[\\\n\r\t]/.test(text) ? text.replace(/[\\\n\r\t]/g, escaped) : text
}

function escaped(character: string): string {
  return { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character] ?? `\\${character}`
}

async function empty(client: Client): Promise<void> {
  await client.query(`truncate floor, ferry.alert_rule_versions, ferry.alert_rule_firings, ferry.sync_runs`)
  await client.query('checkpoint')
}
