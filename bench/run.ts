import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { around } from './around.ts'
import { asOf } from './as-of.ts'
import { coldSync } from './cold-sync.ts'
import { consolePages } from './console.ts'
import { help } from './help.ts'
import { history } from './history.ts'
import { idleTransactions } from './idle-transactions.ts'
import { idleWorker } from './idle-worker.ts'
import { importBatch } from './import-batch.ts'
import { importHistory } from './import-history.ts'
import { importLarge } from './import-large.ts'
import { importPacing } from './import-pacing.ts'
import { importStaging } from './import-staging.ts'
import { mcpPages } from './mcp-pages.ts'
import { permits } from './permits.ts'
import { reSync } from './re-sync.ts'
import { reports } from './reports.ts'
import { scaleOut } from './scale-out.ts'
import { type Figure, judge, ratioOf, type Verdict } from './support/figures.ts'
import { type Bench, openLab } from './support/lab.ts'
import { openServer, type Server } from './support/server.ts'
import { printTable } from './support/table.ts'
import { syncMemory } from './sync-memory.ts'
import { throttle } from './throttle.ts'
import { verify } from './verify.ts'

/*
 * Measures what Ferry promises about speed and size:
 *
 *     npm run bench                         everything, about twenty minutes
 *     npm run bench -- cold-sync as-of      only these
 *     npm run bench -- --quick              small sizes: shows within a minute that the benches work. Limits are judged,
 *                                           speeds are not
 *     npm run bench -- --long throttle      ten minutes at the platform's real limits
 *     npm run bench -- --long import-pacing half an hour of them
 *     npm run bench -- --long import-large  five million rows instead of one
 *
 * A figure with a floor is judged by its ratio to it: both are measured in turns in the same run, and medians
 * compared. Ends with 1 if a figure is missed or a bench fails. All of it is kept as JSON under bench/results.
 *
 * The platform is the sandbox in a process of its own. The database is an embedded Postgres in a temporary directory,
 * or made on the server of FERRY_BENCH_DATABASE_URL, as a superuser. Nothing is left behind, nor after Ctrl-C.
 */

const BENCHES: Readonly<Record<string, Bench>> = {
  'cold-sync': coldSync,
  're-sync': reSync,
  'sync-memory': syncMemory,
  'mcp-pages': mcpPages,
  throttle,
  'as-of': asOf,
  around,
  history,
  reports,
  console: consolePages,
  help,
  'idle-worker': idleWorker,
  'idle-transactions': idleTransactions,
  permits,
  'import-staging': importStaging,
  'import-batch': importBatch,
  'import-pacing': importPacing,
  'import-history': importHistory,
  'import-large': importLarge,
  'scale-out': scaleOut,
  verify,
}

/** A figure as it is kept; `load` was the machine's when it was taken. */
type Judged = Figure & {
  readonly bench: string
  readonly ratio: number | null
  readonly verdict: Verdict
  readonly load: readonly number[]
}

class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

const RESULTS = new URL('results/', import.meta.url)

const { values: options, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, long: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const benches = chooseBenches(positionals)

const interrupted = new Promise<never>((_, reject) => {
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => reject(new Interrupted()))
})
const opening = openServer()
try {
  const server = await Promise.race([opening, interrupted])
  const { figures, failures } = await runAll(server)
  printTable(figures)
  console.log(`kept in ${await keep(server, figures)}`)
  process.exitCode = failures > 0 || figures.some(({ verdict }) => verdict === 'MISSED') ? 1 : 0
} catch (error) {
  if (!(error instanceof Interrupted)) throw error
  process.exitCode = 130
} finally {
  await (await opening)[Symbol.asyncDispose]()
}
// Work that was interrupted may hold on to the process, with nothing to wait for any more.
process.exit()

async function runAll(server: Server): Promise<{ figures: Judged[]; failures: number }> {
  const judged: Judged[] = []
  let failures = 0
  for (const [name, bench] of benches) {
    console.error(`${name} (load ${loadNow().join(', ')})`)
    const opened = new AsyncDisposableStack()
    try {
      const figures = await Promise.race([bench(openLab(server, opened, options)), interrupted])
      const load = loadNow()
      for (const figure of figures) {
        const verdict = judge(figure, options.quick)
        judged.push({ ...figure, bench: name, ratio: ratioOf(figure), verdict, load })
      }
    } catch (error) {
      if (error instanceof Interrupted) {
        await abandon(opened)
        throw error
      }
      failures += 1
      console.error(`${name} failed:`, error)
    }
    await opened.disposeAsync()
  }
  return { figures: judged, failures }
}

/** Closes what it can of a bench that still runs. Its databases will be dropped, which cuts it off whatever it does. */
async function abandon(opened: AsyncDisposableStack): Promise<void> {
  console.error('Cleaning up.')
  process.on('uncaughtException', () => {}) // what is cut off complains
  await Promise.race([opened.disposeAsync().catch(() => {}), delay(3_000)])
}

function chooseBenches(names: readonly string[]): [string, Bench][] {
  const all = Object.entries(BENCHES)
  const unknown = names.filter(name => !Object.hasOwn(BENCHES, name))
  if (unknown.length === 0) return names.length === 0 ? all : all.filter(([name]) => names.includes(name))
  console.error(`There is no bench ${unknown.join(', ')}; there are: ${Object.keys(BENCHES).join(', ')}`)
  return process.exit(2)
}

async function keep(server: Server, figures: readonly Judged[]): Promise<string> {
  const at = new Date()
  const file = new URL(`${at.toISOString().replaceAll(':', '-')}.json`, RESULTS)
  const machine = { cpus: cpus().map(cpu => cpu.model), node: process.version, postgres: server.version }
  await mkdir(RESULTS, { recursive: true })
  await writeFile(file, JSON.stringify({ at, options, machine, figures }, null, 2))
  return fileURLToPath(file)
}

/** Runnable processes in the last one, five and fifteen minutes: how noisy the machine was. */
function loadNow(): number[] {
  return loadavg().map(load => Number(load.toFixed(1)))
}
