import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { acquireLease } from '#src/db/leases.ts'
import { openDatabase } from '#src/db/pool.ts'
import { startImport } from '#src/imports/sending/start.ts'
import { atMost, type Figure } from './support/figures.ts'
import { type Bench, NEVER } from './support/lab.ts'
import { putLargeImport } from './support/large-import.ts'

/**
 * What it takes to begin an import on a page to which very many were sent before, and how long whoever pauses it
 * meanwhile has to wait for its row.
 */
export const importHistory: Bench = async lab => {
  const million = lab.size(1_000_000, 10_000)
  const database = openDatabase(await lab.openDatabase(), pino({ level: 'silent' }))
  lab.defer(() => database[Symbol.asyncDispose]())
  const { pool } = database
  const figures: Figure[] = []

  async function measure(history: number, rows: number, update: boolean, most?: number): Promise<void> {
    const id = await putLargeImport(pool, { rows, update })
    const { tookMs, waitedMs } = await begin(pool, id)
    const what = `${rows} rows${update ? ' with --update' : ''} after ${history}`
    figures.push(
      {
        measure: `${what}: begun in`,
        value: tookMs / 1_000,
        unit: 's',
        ...(most === undefined ? {} : { wanted: atMost(most) }),
      },
      { measure: `${what}: a pause waits at most`, value: waitedMs, unit: 'ms', wanted: atMost(2_000) },
    )
    await pool.query(`update ferry.imports set status = 'cancelled', finished_at = now() where id = $1`, [id])
  }

  await putLargeImport(pool, { rows: million, isSent: true })
  await measure(million, 10, false, 2)
  await measure(million, 10, true, 2)
  await measure(million, million, false)
  await measure(million, million, true)
  await putLargeImport(pool, { rows: 4 * million, from: million + 1, isSent: true })
  await measure(5 * million, 10, false, 10)
  return figures
}

async function begin(pool: Pool, id: bigint): Promise<{ tookMs: number; waitedMs: number }> {
  const lease = await acquireLease(pool, `bench:${id}`, 'bench', pino({ level: 'silent' }))
  if ('heldBy' in lease) throw new Error('another process holds the lease')
  const over = new AbortController()
  const waited = longestWait(pool, id, over.signal)
  const startedAtMs = performance.now()
  const started = await startImport(pool, id, lease, NEVER)
  const tookMs = performance.now() - startedAtMs
  over.abort()
  const waitedMs = await waited
  await lease.release()
  if (started?.status !== 'running') throw new Error(`it did not begin but is: ${started?.status}`)
  return { tookMs, waitedMs }
}

/** Locks the import's row again and again, as a pause does. */
async function longestWait(pool: Pool, id: bigint, signal: AbortSignal): Promise<number> {
  let longestMs = 0
  while (!signal.aborted) {
    const askedAtMs = performance.now()
    await pool.query('select from ferry.imports where id = $1 for update', [id])
    longestMs = Math.max(longestMs, performance.now() - askedAtMs)
    await delay(20)
  }
  return longestMs
}
