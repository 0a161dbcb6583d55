import type { Pool } from 'pg'
import { listDatabaseChanges } from '#src/db/known-database.ts'
import { inTransaction } from '#src/db/pool.ts'
import { listWorkers, type WorkerRow } from '#src/db/workers.ts'
import {
  listRunningImports,
  listStuckImports,
  type RunningImport,
  type StuckImport,
} from '#src/imports/reporting/stuck.ts'
import type { SummaryRow } from '#src/imports/reporting/summary.ts'
import { listWaitingRows } from '#src/imports/reporting/waits-for.ts'
import { type HoldRow, listHolds } from '#src/inventory/holds/list-holds.ts'
import type { DatabaseChange } from '#src/model/database-change.ts'
import { type Freshness, loadFreshness } from '#src/reports/freshness.ts'
import {
  type BlindSpot,
  type LimitMinute,
  listBlindSpots,
  listLimitUse,
  listWorkUnderWay,
  type Work,
} from '#src/reports/now.ts'
import type { Schedule } from '#src/schedules/definition.ts'
import { listSchedules, type ScheduleRow } from '#src/schedules/list-schedules.ts'

/** Everything that the page Now shows, as Postgres has it now. */
export type NowFacts = {
  readonly inventories: readonly Freshness[]
  readonly workers: readonly WorkerRow[]
  readonly work: readonly Work[]
  readonly schedules: readonly ScheduleRow[]
  readonly limits: readonly LimitMinute[]
  readonly holds: readonly HoldRow[]
  /** Those that wait for a person. */
  readonly imports: readonly SummaryRow[]
  readonly running: readonly RunningImport[]
  /** Those that should go on without a person, and do not. */
  readonly stuck: readonly StuckImport[]
  readonly blindSpots: readonly BlindSpot[]
  /** When the database was last seen to be another than the known one; empty if it never was. */
  readonly databaseChanges: readonly DatabaseChange[]
}

/** The most rows of each list on the page; the pages that it links to show all. */
export const MAX_SHOWN = 20

/** Whether more decisions may wait than are shown. */
export function areDecisionsCut({ holds, imports }: Pick<NowFacts, 'holds' | 'imports'>): boolean {
  return holds.length >= MAX_SHOWN || imports.length >= MAX_SHOWN
}

/** Workers, and what they do: the page counts them, and shows the silent ones first. */
const MAX_LOADED = 1_000

/** Uses one transaction: a page that stays open all day should ask for little. */
export function loadNow(reader: Pool, schedules: readonly Schedule[]): Promise<NowFacts> {
  return inTransaction(reader, async client => ({
    inventories: await loadFreshness(client),
    workers: await listWorkers(client, MAX_LOADED),
    work: await listWorkUnderWay(client, MAX_LOADED),
    schedules: await listSchedules(client, schedules),
    limits: await listLimitUse(client),
    holds: await listHolds(client, 'open', MAX_SHOWN),
    imports: await listWaitingRows(client, MAX_SHOWN),
    running: await listRunningImports(client, MAX_SHOWN),
    stuck: await listStuckImports(client, MAX_SHOWN),
    blindSpots: await listBlindSpots(client, MAX_SHOWN),
    databaseChanges: await listDatabaseChanges(client, 1),
  }))
}
