import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { finishRun, type NewRun, NOTHING_DONE, type RunEnd, startRun } from '#src/inventory/runs/ledger.ts'

/** What a run is started with, where it does not matter to the test. */
export const NEW_RUN: NewRun = {
  account: 'default',
  resource: 'alert-rules',
  trigger: 'manual',
  slot: null,
  scope: { folders: ['0'], includeAccount: null, keyHash: 'key' },
  guard: '10,20%',
  fingerprintVersion: 1,
  by: null,
}

/** How a run is published that found nothing to do. */
export const NOTHING_CHANGED = {
  end: { ...NOTHING_DONE, status: 'succeeded' },
  removals: { kind: 'remove', ids: [] },
} as const

/** Such a run that has ended, and applied its listing unless told otherwise. Returns its id. */
export async function addRun(
  pool: Pool,
  { end, ...run }: Partial<NewRun> & { readonly end?: Partial<RunEnd> } = {},
): Promise<bigint> {
  const id = await startRun(pool, { ...NEW_RUN, ...run }, { token: randomUUID() })
  const appliedAt = new Date().toISOString()
  await finishRun(pool, id, { ...NOTHING_DONE, status: 'succeeded', appliedAt, ...end })
  return id
}

/** A run, or every one so far, took place so much earlier (an interval of Postgres, such as `90 days`). */
export async function ageRuns(pool: Pool, by: string, run: bigint | null = null): Promise<void> {
  await pool.query(
    `update ferry.sync_runs set started_at = started_at - $1::interval,
       applied_at = applied_at - $1::interval, finished_at = finished_at - $1::interval
     where id = coalesce($2, id)`,
    [by, run],
  )
}

/** As if an earlier version of Ferry, which made other fingerprints, had done all runs so far. */
export async function makeFingerprintsOld(pool: Pool): Promise<void> {
  await pool.query('update ferry.sync_runs set fingerprint_version = 0')
}
