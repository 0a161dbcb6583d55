import type { Client, Pool } from 'pg'
import { pino } from 'pino'
import { OpenCopy } from '#src/db/copy.ts'
import { inTransaction, openDatabase } from '#src/db/pool.ts'
import { closeVersions, copyTarget, type NewVersion, versionRows } from '#src/inventory/publish/versions.ts'
import { ALERT_RULE_VERSIONS as TABLE } from '#src/inventory/versioned-tables.ts'
import { ALERT_RULE, type AlertRule } from '#src/model/alert-rule.ts'
import { rowWriter } from '#src/platform/written-row.ts'
import { DEFAULT_OPTIONS } from '#src/sandbox/options.ts'
import { SandboxState } from '#src/sandbox/state.ts'
import { atMost } from './support/figures.ts'
import type { Bench } from './support/lab.ts'

const NIGHTS = 365
/** Nights copied in full; all copies are of one size, so those not made are reckoned from these. */
const NIGHTS_COPIED = 10

/**
 * What a year of nights takes on disk, indexes and dead rows included, against a full copy every night: the contract's
 * columns and the night, with the key (night, id) and no other index.
 */
export const history: Bench = async lab => {
  const size = lab.size(10_000, 1_000)
  const databaseUrl = await lab.openDatabase()
  const client = await lab.connect(databaseUrl)
  const database = openDatabase(databaseUrl, pino({ level: 'silent' }))
  lab.defer(() => database[Symbol.asyncDispose]())
  const platform = new NotingSandbox({ ...DEFAULT_OPTIONS, rules: size, servers: 0 })
  const vacuum = await autovacuumOf(client)

  for (let night = 0; night < NIGHTS; night++) {
    if (night > 0) platform.mutate(size / 100, ['rule-changed'])
    const fresh = night > 0 ? platform.takeChanged() : platform.rules.rows()
    await saveNight(database.pool, night, fresh)
    await vacuum(night === 0 ? 0 : size / 100, night === 0 ? size : size / 100)
  }
  const versions = await bytesOf(client, TABLE.name)
  const copies = ((await copyNights(client)) / NIGHTS_COPIED) * NIGHTS
  return [
    {
      measure: `${NIGHTS} nights of ${size} rules, 1 % changed a night, against copies`,
      value: versions / 1e6,
      floor: copies / 1e6,
      unit: 'MB',
      wanted: atMost(1 / 40),
    },
  ]
}

/** Notes which rules change. */
class NotingSandbox extends SandboxState {
  readonly #changed = new Set<bigint>()

  override changeRule(id: bigint, patch: Partial<AlertRule<bigint>>): void {
    super.changeRule(id, patch)
    this.#changed.add(id)
  }

  /** The rules that have changed since the last call, as they are now. */
  takeChanged(): AlertRule<bigint>[] {
    const rules = Array.from(this.#changed, id => this.rules.get(id))
    this.#changed.clear()
    return rules
  }
}

/** Closes and opens versions as a sync does in its transaction, at half past three of a night. */
async function saveNight(pool: Pool, night: number, rules: readonly AlertRule<bigint>[]): Promise<void> {
  const at = new Date(Date.UTC(2026, 0, 1 + night, 3, 30)).toISOString()
  const run = { account: 'default', runId: BigInt(night + 1), at }
  const fresh = rules.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  await inTransaction(pool, async client => {
    await closeVersions(client, TABLE, run, night === 0 ? [] : fresh.map(TABLE.idOf))
    const copy = new OpenCopy(client, copyTarget(TABLE))
    await copy.write(versionRows(TABLE, run, fresh.map(versionOf)))
    await copy.end()
  })
}

function versionOf(row: AlertRule<bigint>): NewVersion<AlertRule<bigint>> {
  return { id: `${row.id}`, row, flags: undefined, altered: [], written: WRITE(row) }
}

const WRITE = rowWriter(ALERT_RULE)

/**
 * Vacuums as autovacuum would in the course of a year with the settings of the table, which here takes seconds: once the
 * rows dead or inserted since the last time are more than a fiftieth of the table and a bit.
 */
async function autovacuumOf(client: Client) {
  await client.query(`alter table ${TABLE.name} set (autovacuum_enabled = false)`)
  let rows = 0
  let dead = 0
  let inserted = 0
  return async (newDead: number, newRows: number) => {
    rows += newRows
    dead += newDead
    inserted += newRows
    if (dead <= 50 + rows / 50 && inserted <= 1_000 + rows / 50) return
    await client.query(`vacuum ${TABLE.name}`)
    dead = 0
    inserted = 0
  }
}

async function copyNights(client: Client): Promise<number> {
  const columns = [TABLE.idColumn, ...TABLE.columns].join(', ')
  await client.query(
    `create table copies as select current_date as night, ${columns}, triggered from ferry.alert_rules limit 0`,
  )
  await client.query('alter table copies add primary key (night, id)')
  for (let night = 0; night < NIGHTS_COPIED; night++) {
    await client.query(
      `insert into copies select current_date + $1::int, ${columns}, triggered from ferry.alert_rules order by id`,
      [night],
    )
  }
  return bytesOf(client, 'copies')
}

async function bytesOf(client: Client, table: string): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>('select pg_total_relation_size($1) as bytes', [
    table,
  ])
  return Number(rows[0]?.bytes)
}
