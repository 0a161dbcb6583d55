import type { Pool, PoolClient } from 'pg'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { saveSnapshot } from '#src/inventory/history/snapshots.ts'
import { holdRemovals } from '#src/inventory/holds/holds.ts'
import { oldRuns } from '#src/inventory/old-rows.ts'
import { reportSharedAccounts } from '#src/inventory/platform-accounts.ts'
import { reportDrift } from '#src/inventory/read/drift.ts'
import { Quarantine, saveQuarantined } from '#src/inventory/read/quarantine.ts'
import { type RunEnd, type RunStep, startRun } from '#src/inventory/runs/ledger.ts'
import { loadRun } from '#src/inventory/runs/list-runs.ts'
import { insertIdleRuns } from '#test/support/many-rows.ts'
import { DAY_MS, removeOld } from '#test/support/prune.ts'
import { addRun, ageRuns, NEW_RUN } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'

const log = pino({ level: 'silent' })

const idsOf = async (pool: Pool) =>
  (await pool.query<{ id: string }>('select id from ferry.sync_runs order by id')).rows.map(({ id }) =>
    BigInt(id),
  )

/** A run that ended so many days ago. */
async function addOldRun(
  pool: Pool,
  daysAgo: number,
  fields: Parameters<typeof addRun>[1] = {},
): Promise<bigint> {
  const run = await addRun(pool, fields)
  await ageRuns(pool, `${daysAgo} days`, run)
  return run
}

const pruneRuns = (pool: Pool) => removeOld(oldRuns(pool, 90 * DAY_MS))

const scopeOf = (folder: string) => ({ ...NEW_RUN.scope, folders: [folder] })

const ANOTHER_RUN = 0n

/** What may name a run, each in one column. */
const NAMING: Record<string, (client: PoolClient, step: RunStep, pool: Pool) => Promise<unknown>> = {
  'a snapshot': (_, { runId }, pool) =>
    saveSnapshot(pool, {
      account: NEW_RUN.account,
      slot: null,
      status: 'succeeded',
      alertRulesRun: runId,
      mcpServersRun: ANOTHER_RUN,
    }),
  'a hold': async (client, step) => {
    await holdRemovals(client, { ...step, runId: ANOTHER_RUN }, NEW_RUN.scope, ['1'])
    await holdRemovals(client, step, NEW_RUN.scope, ['1'])
  },
  'a new field': (client, step) =>
    reportDrift(log, client, step, { drift: [{ field: 'x', type: 'string' }], values: [] }),
  'an account id': (client, step) =>
    reportSharedAccounts({ accounts: new Map(), log }, client, step, new Set([1n])),
}

describe('old runs that changed nothing', () => {
  test('are removed with the rows they set aside; younger ones stay', async () => {
    await using store = await openTestStore()
    const { pool } = store
    const runs = [await addOldRun(pool, 91), await addOldRun(pool, 89)]
    for (const [position, runId] of runs.entries()) {
      const quarantine = new Quarantine()
      quarantine.add({ position: 0, id: null, reason: `no name ${position}`, raw: null })
      await inTransaction(pool, client => saveQuarantined(client, { ...NEW_RUN, runId }, quarantine))
    }
    const latest = await addRun(pool)
    expect(await pruneRuns(pool)).toBe(1)
    expect((await pool.query('select from ferry.quarantined_rows')).rowCount).toBe(1)
    expect(await idsOf(pool)).toEqual([runs[1], latest])
    expect((await loadRun(pool, runs[1]!))?.quarantined).toMatchObject([{ reason: 'no name 1' }])
  })
  test('move the instant from which all runs are known, and only forwards', async () => {
    await using store = await openTestStore()
    const { pool } = store
    const daysKnown = async () => {
      const ago =
        'select starts_at::text, round(extract(epoch from now() - runs_start_at) / 86400)::int as days from ferry.history'
      return (await pool.query(ago)).rows
    }
    await addOldRun(pool, 80)
    await addRun(pool)
    await pruneRuns(pool)
    expect(await daysKnown()).toEqual([])
    await addOldRun(pool, 100)
    await addOldRun(pool, 80)
    await addRun(pool)
    await pruneRuns(pool)
    expect(await daysKnown()).toEqual([{ starts_at: '-infinity', days: 90 }])
    await removeOld(oldRuns(pool, 50 * DAY_MS))
    expect(await daysKnown()).toEqual([{ starts_at: '-infinity', days: 50 }])
    await addOldRun(pool, 100)
    await addRun(pool)
    await pruneRuns(pool)
    expect(await daysKnown()).toEqual([{ starts_at: '-infinity', days: 50 }])
  })
  test('stay if they are the latest complete one of their scope', async () => {
    await using store = await openTestStore()
    const { pool } = store
    const latestOfFolder = await addOldRun(pool, 200, { scope: scopeOf('7') })
    await addOldRun(pool, 200)
    const latestComplete = await addOldRun(pool, 100)
    const partial = await addOldRun(pool, 95, { end: { status: 'partial' } })
    await addOldRun(pool, 95, { end: { status: 'failed', appliedAt: null } })
    await pruneRuns(pool)
    expect(await idsOf(pool)).toEqual([latestOfFolder, latestComplete, partial])
  })

  test.for<[string, Partial<RunEnd>]>([
    ['added rows', { added: 1 }],
    ['changed rows', { changed: 1 }],
    ['removed rows', { removed: 1 }],
    ['saw a rule fire', { fired: 1 }],
    ['saw a rule recover', { recovered: 1 }],
  ])('stay if they %s', async ([, end]) => {
    await using store = await openTestStore()
    const run = await addOldRun(store.pool, 200, { end })
    const later = await addRun(store.pool)
    await pruneRuns(store.pool)
    expect(await idsOf(store.pool)).toEqual([run, later])
  })

  test('stay if they never ended', async () => {
    await using store = await openTestStore()
    const run = await startRun(store.pool, NEW_RUN, { token: crypto.randomUUID() })
    await ageRuns(store.pool, '200 days')
    const later = await addRun(store.pool)
    await pruneRuns(store.pool)
    expect(await idsOf(store.pool)).toEqual([run, later])
  })

  test.for(Object.entries(NAMING))('stay if %s names them', async ([, name]) => {
    await using store = await openTestStore()
    const { pool } = store
    const run = await addOldRun(pool, 200)
    const later = await addRun(pool)
    const step = { ...NEW_RUN, runId: run, at: '2026-01-01' }
    await inTransaction(pool, client => name(client, step, pool))
    await pruneRuns(pool)
    expect(await idsOf(pool)).toEqual([run, later])
  })

  test.for([499, 500, 501, 1_000])('are removed after %i that stay', async kept => {
    await using store = await openTestStore()
    const { pool } = store
    const runs = kept + 600
    await insertIdleRuns(pool, runs)
    await pool.query('update ferry.sync_runs set added = 1 where id <= $1', [kept])
    expect(await pruneRuns(pool)).toBe(Math.floor(runs * 0.99) - kept)
  })
})
