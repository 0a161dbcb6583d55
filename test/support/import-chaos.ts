import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { allChecks } from '#src/cli/verify/checks.ts'
import { openDatabase } from '#src/db/pool.ts'
import { confirmImport } from '#src/imports/control/decide.ts'
import type { Sandbox } from '#src/sandbox/sandbox.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type CheckedSandbox, openCheckedSandbox } from '#test/support/sandbox.ts'
import { disagreements, ledgerOf, rowsUnaccounted } from './import-ledger.ts'
import { openTestRedis, testRedisUrl } from './redis.ts'
import { stageRows } from './staged.ts'
import { brokenPromises } from './verify.ts'
import { waitFor } from './wait-for.ts'

/** What the receiver must never see exceeded. */
export type Windows = readonly { readonly most: number; readonly ms: number }[]

/** The contract's windows, thirty times as fast. */
const TIGHT: Windows = [
  { most: 4, ms: 200 },
  { most: 40, ms: 2_000 },
]

/** A status page of its own for every import: imports of one page would wait for each other. */
const FIRST_PAGE = 7_000_000_000_000n

/** Imports under way, a platform to receive them, and workers to be ill-treated. */
export type Chaos = AsyncDisposable & {
  readonly sandbox: CheckedSandbox
  readonly pool: Pool
  /** Where the queue is, if there is a Redis to test on: else it is in Postgres. */
  readonly redisUrl: string | null
  /** Puts another import into the tables, as if staged, and confirms it. */
  stage(more?: { account?: string; rows?: number; onUncertain?: 'resend' | 'hold' }): Promise<bigint>
  /** Starts a process that is ready to work; `go` lets it. */
  startWorker(): Promise<ChildProcess>
  unfinished(): Promise<number>
  /** Resolves once every import has ended, or needs a person. */
  allEnded(): Promise<void>
  /** How the imports stand against what the platform received. `wrong` is what must not be, in words. */
  look(): Promise<Verdict>
  /** The same for the last time, and what `ferry verify` finds: nobody looks any more whether the sums add up. */
  verdict(): Promise<Verdict>
}

export type Verdict = {
  readonly wrong: readonly string[]
  readonly looks: number
  readonly imports: number
  readonly recipients: number
  readonly calls: number
  readonly deliveries: number
  readonly deliveredAgain: number
  readonly resentBatches: number
}

/** `databaseUrl` is a database with Ferry's tables. */
export async function openChaos(
  databaseUrl: string,
  {
    windows = TIGHT,
    settings = {},
    ...judged
  }: { windows?: Windows; settings?: Readonly<Record<string, string>>; refusedMayBeApplied?: boolean } = {},
): Promise<Chaos> {
  await using opened = new AsyncDisposableStack()
  const sandbox = opened.use(
    await openCheckedSandbox({ limits: false, rules: 1, servers: 1, answerMs: [0, 60] }),
  )
  const { pool } = opened.use(openDatabase(databaseUrl, pino({ level: 'silent' })))
  const redisUrl = testRedisUrl ? opened.use(await openTestRedis()).url : null
  const cache = await mkdtemp(join(tmpdir(), 'ferry-test-compiled-'))
  opened.defer(() => rm(cache, { recursive: true, force: true }))
  const workers = new Set<ChildProcess>()
  opened.defer(() => endAll(workers))
  const pages = new Map<bigint, bigint>()
  const watch = watchSums(pool)
  opened.defer(watch.stop)
  const env = {
    DATABASE_URL: databaseUrl,
    FERRY_BASE_URL: sandbox.baseUrl,
    FERRY_APP_KEY: sandbox.appKey,
    FERRY_IMPORT_LIMIT: windows.map(({ most, ms }) => `${most}/${ms}ms`).join(),
    FERRY_ARRIVAL_BOUND: '1s',
    FERRY_REQUEST_TIMEOUT: '1500ms',
    FERRY_POLL_EVERY: '1h',
    ...(redisUrl && { REDIS_URL: redisUrl }),
    ...settings,
  }
  const kept = opened.move()

  async function unfinished(): Promise<number> {
    const { rows } = await pool.query<{ n: number }>(
      `select count(*)::int as n from ferry.imports where status not in ('completed', 'undecided')`,
    )
    return rows[0]?.n ?? Number.NaN
  }
  async function look(): Promise<Verdict> {
    const { wrong, ...counts } = await compare(pool, sandbox, pages, judged)
    return {
      wrong: [...watch.found.wrong, ...wrong, ...overTheLimit(sandbox, windows)],
      looks: watch.found.looks,
      imports: pages.size,
      ...counts,
      calls: sandbox.state.received.filter(call => call.operation === 'import-subscribers').length,
    }
  }
  return {
    sandbox,
    pool,
    redisUrl,
    unfinished,
    async stage({ account = 'default', rows = 24, onUncertain = 'resend' } = {}) {
      const pageId = FIRST_PAGE + BigInt(pages.size)
      sandbox.state.subscribers.addPage(pageId)
      const id = await stageRows(pool, {
        account,
        pageId,
        rows,
        batchRows: 4,
        onUncertain,
        status: 'staging',
      })
      pages.set(id, pageId)
      await confirmImport(pool, id, ADA)
      return id
    },
    async startWorker() {
      const worker = fork(SCRIPT, [JSON.stringify(env)], {
        env: { ...process.env, NODE_COMPILE_CACHE: cache },
      })
      workers.add(worker.once('exit', () => workers.delete(worker)))
      await once(worker, 'message')
      return worker
    },
    allEnded: async () => {
      await waitFor(async () => (await unfinished()) === 0, {
        timeoutMs: 480_000,
        what: 'all imports to end',
      })
    },
    look,
    async verdict() {
      await watch.stop()
      const { wrong, ...counts } = await look()
      return { wrong: [...wrong, ...(await brokenPromises(pool, allChecks([limitOf(windows)])))], ...counts }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const SCRIPT = fileURLToPath(new URL('import-process.ts', import.meta.url))

/** Lets a process that is ready begin to work. */
export function go(worker: ChildProcess): void {
  worker.send('go')
}

export async function kill(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return
  const gone = once(worker, 'exit')
  worker.kill('SIGKILL')
  await gone
}

/** Resolves once the platform has received so many more. */
export async function someCallsMore({ sandbox }: Chaos, calls: number): Promise<void> {
  const from = sandbox.state.received.length
  await waitFor(() => sandbox.state.received.length >= from + calls, { what: `${calls} calls more` })
}

/** Prints what a test counted, to be cited. */
export function report(counts: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(counts)}\n`)
}

async function endAll(workers: ReadonlySet<ChildProcess>): Promise<void> {
  await Promise.all([...workers].map(kill))
}

/** Looks again and again whether every row is accounted for, until it is stopped. */
function watchSums(pool: Pool) {
  const found = { looks: 0, wrong: [] as string[] }
  let stopped = false
  const watching = watch()
  async function watch(): Promise<void> {
    while (!stopped) {
      // A database that is out of reach is nobody's mistake here.
      const wrong = await rowsUnaccounted(pool).catch(() => null)
      if (wrong) found.looks += 1
      found.wrong.push(...(wrong ?? []))
      await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
    }
  }
  return {
    found,
    async stop() {
      stopped = true
      await watching
    },
  }
}

const LOOK_EVERY_MS = 100

async function compare(
  pool: Pool,
  sandbox: Sandbox,
  pages: ReadonlyMap<bigint, bigint>,
  judged: { refusedMayBeApplied?: boolean },
) {
  const wrong = await rowsUnaccounted(pool)
  let recipients = 0
  let deliveries = 0
  let deliveredAgain = 0
  for (const [id, page] of pages) {
    const ledger = await ledgerOf(pool, id)
    const delivered = sandbox.state.subscribers.list(page, 'email')
    recipients += ledger.length
    deliveries += delivered.reduce((sum, one) => sum + one.deliveries, 0)
    deliveredAgain += delivered.filter(one => one.deliveries > 1).length
    wrong.push(...disagreements(ledger, delivered, judged).map(text => `import ${id}: ${text}`))
  }
  const { rows } = await pool.query<{ n: number }>(
    'select count(*)::int as n from ferry.import_batches where resends > 0',
  )
  return { wrong, recipients, deliveries, deliveredAgain, resentBatches: rows[0]?.n ?? Number.NaN }
}

function limitOf(windows: Windows) {
  return {
    account: 'default',
    operation: 'import-subscribers',
    windows: windows.map(({ most, ms }) => ({ maxCalls: most, windowMs: ms })),
  }
}

function overTheLimit(sandbox: Sandbox, windows: Windows): string[] {
  return windows.flatMap(({ most, ms }) => {
    const found = sandbox.state.maxInAnyWindow('import-subscribers', ms)
    return found > most ? [`${found} calls in ${ms} ms, ${most} allowed`] : []
  })
}
