import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Pool, PoolClient } from 'pg'
import { loadProgress } from '#src/imports/reporting/progress.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { listSummaryRows } from '#src/imports/reporting/summary.ts'
import { workImport } from '#src/imports/sending/work.ts'
import { atLeast, atMost, type Figure, median, percentile } from './support/figures.ts'
import { type Bench, NEVER } from './support/lab.ts'
import { putLargeImport } from './support/large-import.ts'
import { timed } from './support/measure.ts'
import { end } from './support/sandbox-process.ts'

const CHILD = fileURLToPath(new URL('support/accepting-child.ts', import.meta.url))
const ROWS = 500

/**
 * Sends an import of a million rows (with --long five million) with an open limit, by the worker's own loop: the last
 * tenth is to go as fast as the first, and a claim and an outcome to cost as little. Then half a million rows that were
 * left out are added, and it is looked at.
 */
export const importLarge: Bench = async lab => {
  const rows = lab.long ? 5_000_000 : lab.size(1_000_000, 20_000)
  const child = fork(CHILD)
  lab.defer(() => end(child))
  const [baseUrl] = (await once(child, 'message')) as [string]
  const ferry = await lab.openFerry({
    DATABASE_URL: await lab.openDatabase(),
    FERRY_BASE_URL: baseUrl,
    FERRY_APP_KEY: 'bench',
    FERRY_IMPORT_LIMIT: '1000000/1s',
  })
  const id = await putLargeImport(ferry.pool, { rows, batchRows: ROWS })
  const watched = watch(ferry.pool)
  const done = await workImport({ ...ferry, pool: watched.pool }, id, { signal: NEVER })
  if (done !== 'completed') throw new Error(`the import ended as ${done}`)

  const { claimsMs, outcomesMs, endedAtMs } = watched
  const tenth = Math.floor(endedAtMs.length / 10)
  const pace = (from: number) =>
    (1_000 * ROWS * (tenth - 1)) / ((endedAtMs[from + tenth - 1] ?? 0) - (endedAtMs[from] ?? 0))
  const late = -tenth
  return [
    {
      measure: `rows a second in the last tenth of ${rows}, against the first`,
      value: pace(endedAtMs.length - tenth),
      floor: pace(0),
      unit: 'rows',
      wanted: atLeast(0.8),
    },
    ...shares('a claim', claimsMs),
    ...shares('a claim in the last tenth', claimsMs.slice(late)),
    ...shares('an outcome recorded', outcomesMs),
    ...shares('an outcome recorded in the last tenth', outcomesMs.slice(late)),
    ...(await looks(ferry.pool, id, lab.size(500_000, 5_000))),
  ]
}

function shares(what: string, tookMs: readonly number[]): Figure[] {
  return [
    { measure: `${what}: p50`, value: median(tookMs), unit: 'ms' },
    { measure: `${what}: p95`, value: percentile(tookMs, 0.95), unit: 'ms', wanted: atMost(20) },
  ]
}

async function looks(pool: Pool, id: bigint, leftOut: number): Promise<Figure[]> {
  await pool.query(
    `insert into ferry.import_left_out (import_id, line, kind, reason)
     select $1, last_line + n, 'suppressed', 'bench' from ferry.imports, generate_series(1, $2::int) n where id = $1`,
    [id, leftOut],
  )
  await pool.query('update ferry.imports set read = read + $2, suppressed = $2 where id = $1', [id, leftOut])
  const rounds = async (work: () => Promise<unknown>) => {
    const tookMs: number[] = []
    for (let round = 0; round < 20; round++) tookMs.push(await timed(work))
    return median(tookMs)
  }
  const report = await reportImport(pool, id)
  if (report.differences.length > 0) throw new Error(report.differences.join('; '))
  return [
    {
      measure: `a look of \`imports watch\`, ${leftOut} left out: p50`,
      value: await rounds(() => loadProgress(pool, id, null)),
      unit: 'ms',
      wanted: atMost(20),
    },
    {
      measure: '`imports list`: p50',
      value: await rounds(() => listSummaryRows(pool, 20)),
      unit: 'ms',
      wanted: atMost(20),
    },
    {
      measure: '`imports show`, counted anew',
      value: (await timed(() => reportImport(pool, id))) / 1_000,
      unit: 's',
    },
  ]
}

/** A pool that keeps how long claims and transactions took, and when the latter ended: they record outcomes. */
function watch(pool: Pool) {
  const claimsMs: number[] = []
  const outcomesMs: number[] = []
  const endedAtMs: number[] = []
  const use = memberOf(pool, 'use') as (work: (client: PoolClient) => Promise<unknown>) => Promise<unknown>
  const members: Record<string, unknown> = {
    async use(work: (client: PoolClient) => Promise<unknown>) {
      const startedAtMs = performance.now()
      const result = await use(work)
      endedAtMs.push(performance.now())
      outcomesMs.push(performance.now() - startedAtMs)
      return result
    },
    async query(text: string, values?: unknown[]) {
      const startedAtMs = performance.now()
      const result = await pool.query(text, values)
      if (String(text).includes('ferry_internal.claim_next_batch'))
        claimsMs.push(performance.now() - startedAtMs)
      return result
    },
  }
  const watched = new Proxy(pool, { get: (target, key) => members[String(key)] ?? memberOf(target, key) })
  return { pool: watched, claimsMs, outcomesMs, endedAtMs }
}

function memberOf(pool: Pool, key: string | symbol): unknown {
  const member: unknown = Reflect.get(pool, key)
  return typeof member === 'function' ? member.bind(pool) : member
}
