import type { Pool, PoolClient } from 'pg'
import { readClock } from '#src/db/clock.ts'
import { loadLimitUse } from '#src/db/limits.ts'
import { readWithin } from '#src/db/pool.ts'
import { listRefusedNow } from '#src/db/refused-now.ts'
import { loadTableSizes } from '#src/db/server-facts.ts'
import { countImports, type ImportCount } from '#src/imports/reporting/summary.ts'
import { listLastSnapshots } from '#src/inventory/history/snapshots.ts'
import { listOpenHolds } from '#src/inventory/holds/list-holds.ts'
import { countQuarantined } from '#src/inventory/read/quarantine.ts'
import type { Limit } from '#src/model/limit.ts'
import { type Freshness, loadFreshness } from '#src/reports/freshness.ts'
import { listNightTargets } from '#src/reports/freshness-targets.ts'
import type { Schedule } from '#src/schedules/definition.ts'
import { listNextSlots } from '#src/schedules/list-schedules.ts'
import { type GaugeNow, secondsOf } from './gauges.ts'

/*
 * What stands in Postgres, for all workers together: every worker shows the same. Instants are by the database's clock.
 */

export type DatabaseSource = {
  readonly pool: Pool
  readonly schedules: readonly Schedule[]
  /** `FERRY_CATCH_UP` */
  readonly catchUpMs: number
  readonly limits: readonly {
    readonly account: string
    readonly operation: string
    readonly limit: Limit
  }[]
}

/** A statement that takes longer is stopped: no scrape may slow a sync. */
const STATEMENT_WITHIN_MS = 2_000

/** Reads all gauges in one transaction that only reads. */
export function readDatabaseGauges({
  pool,
  schedules,
  catchUpMs,
  limits,
}: DatabaseSource): Promise<GaugeNow[]> {
  return readWithin(pool, STATEMENT_WITHIN_MS, async client => [
    await clockGauge(client),
    ...(await inventoryGauges(client)),
    ...importGauges(await countImports(client)),
    await scheduleGauge(client, schedules, catchUpMs),
    ...(await limitGauges(client, limits)),
    {
      name: 'ferry_refused',
      help: '1 if the platform refused the last call of an operation for its key, licence, balance or permission (401, 402, 403), a quarter of an hour ago at most. Absent as soon as one is accepted.',
      samples: (await listRefusedNow(client)).map(refusal => [refusal, 1] as const),
    },
    {
      name: 'ferry_table_size_bytes',
      help: 'Size of a table on disk, with its indexes.',
      samples: (await loadTableSizes(client)).map(({ table, bytes }) => [{ table }, bytes] as const),
    },
  ])
}

async function clockGauge(client: PoolClient): Promise<GaugeNow> {
  const { now } = await readClock(client)
  return {
    name: 'ferry_database_clock_timestamp_seconds',
    help: 'The clock of the database when these gauges were read; they are read every 10 s at most.',
    samples: [[{}, secondsOf(now)]],
  }
}

async function inventoryGauges(client: PoolClient): Promise<GaugeNow[]> {
  const inventories = await loadFreshness(client)
  const of = (value: (one: Freshness) => number | null): GaugeNow['samples'] =>
    inventories.flatMap(one => {
      const number = value(one)
      return number === null ? [] : [[labelsOf(one), number] as const]
    })
  const holds = await listOpenHolds(client)
  const quarantined = await countQuarantined(
    client,
    inventories.map(({ account, inventory }) => ({ account, resource: inventory })),
  )
  return [
    {
      name: 'ferry_inventory_last_complete_timestamp_seconds',
      help: 'When the last complete listing of an inventory began to be read.',
      samples: of(({ lastCompleteAt }) => lastCompleteAt && secondsOf(lastCompleteAt)),
    },
    {
      name: 'ferry_inventory_freshness_target_seconds',
      help: 'Freshness target of an inventory: how old it may be, by the settings of the workers.',
      samples: of(({ targetMs }) => targetMs && targetMs / 1_000),
    },
    {
      name: 'ferry_night_target_seconds',
      help: 'How old the last snapshot of an account may be before a night is missed, by the settings of the workers.',
      samples: (await listNightTargets(client)).map(
        ({ account, nightMs }) => [{ account }, nightMs / 1_000] as const,
      ),
    },
    {
      name: 'ferry_inventory_fresh',
      help: '1 if an inventory is within its freshness target, 0 if it is late or was never listed completely. Absent without a freshness target.',
      samples: of(({ state }) => (state === 'no target' ? null : Number(state === 'fresh'))),
    },
    {
      name: 'ferry_snapshot_last_timestamp_seconds',
      help: 'When the last snapshot of an account was taken, at night or by hand.',
      samples: (await listLastSnapshots(client)).map(
        ({ account, takenAt }) => [{ account }, secondsOf(takenAt)] as const,
      ),
    },
    {
      name: 'ferry_held_removals',
      help: 'Rows whose removal waits for a decision.',
      samples: inventories.map(
        one => [labelsOf(one), holds.find(hold => isOf(hold, one))?.rows ?? 0] as const,
      ),
    },
    {
      name: 'ferry_quarantined_rows',
      help: 'Rows that the last run of an inventory could not read.',
      samples: inventories.map(
        one => [labelsOf(one), quarantined.find(count => isOf(count, one))?.rows ?? 0] as const,
      ),
    },
  ]
}

function labelsOf({ account, inventory }: Pick<Freshness, 'account' | 'inventory'>) {
  return { account, inventory }
}

function isOf(row: { readonly account: string; readonly resource: string }, one: Freshness): boolean {
  return row.account === one.account && row.resource === one.inventory
}

/** The values of the label `status`, and the count that each shows. */
const ROW_STATES = {
  sent: 'sent',
  rejected: 'rejected',
  duplicate: 'duplicate',
  suppressed: 'suppressed',
  already_imported: 'alreadyImported',
  uncertain: 'uncertain',
  pending: 'pending',
} as const

function importGauges(counts: readonly ImportCount[]): GaugeNow[] {
  const accounts = [...new Set(counts.map(({ account }) => account))]
  const rowsOf = (account: string, state: (typeof ROW_STATES)[keyof typeof ROW_STATES]) =>
    counts
      .filter(count => count.account === account && !(state === 'pending' && count.status === 'cancelled'))
      .reduce((sum, count) => sum + count[state], 0)
  return [
    {
      name: 'ferry_imports',
      help: 'Imports by status.',
      samples: counts.map(({ account, status, imports }) => [{ account, status }, imports] as const),
    },
    {
      name: 'ferry_import_rows',
      help: 'Rows of all imports by state (status). Rows of cancelled imports are not pending.',
      samples: accounts.flatMap(account =>
        Object.entries(ROW_STATES).map(
          ([status, state]) => [{ account, status }, rowsOf(account, state)] as const,
        ),
      ),
    },
  ]
}

async function scheduleGauge(
  client: PoolClient,
  schedules: readonly Schedule[],
  catchUpMs: number,
): Promise<GaugeNow> {
  const slots = await listNextSlots(client, schedules, catchUpMs)
  return {
    name: 'ferry_schedule_next_timestamp_seconds',
    help: 'When the next slot of a schedule is due that no worker has taken. A time in the past means that no worker takes it.',
    samples: slots.map(({ account, schedule, at }) => [{ account, schedule }, secondsOf(at)] as const),
  }
}

async function limitGauges(client: PoolClient, limits: DatabaseSource['limits']): Promise<GaugeNow[]> {
  const uses = await loadLimitUse(client, limits)
  const known = limits.flatMap(({ account, operation }, index) => {
    const use = uses[index]
    return use ? [{ labels: { account, operation }, ...use }] : []
  })
  return [
    {
      name: 'ferry_limit_used_ratio',
      help: 'Share of the allowed calls that is used now, in the fullest window: 0 to 1.',
      samples: known.map(({ labels, used }) => [labels, used] as const),
    },
    {
      name: 'ferry_limit_closed_until_timestamp_seconds',
      help: 'Until when an operation waits because the platform answered 429, or another database was noticed. Absent while it is open.',
      samples: known.flatMap(({ labels, closedUntil }) =>
        closedUntil ? [[labels, secondsOf(closedUntil)] as const] : [],
      ),
    },
  ]
}
