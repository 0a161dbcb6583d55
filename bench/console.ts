import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { pino } from 'pino'
import { defineSchedules } from '#jobs/schedules.ts'
import { serveHttp } from '#src/cli/worker-http.ts'
import { openHttp } from '#src/http/server.ts'
import { Secret } from '#src/model/secret.ts'
import { hasChromium, openChromium, openVisit } from '#test/http/console/browser/chromium.ts'
import { FOUR_LOOKS, lookAt } from '#test/http/console/browser/looks.ts'
import { type AskPage, kindOf, walk } from '#test/http/console/walk.ts'
import { atMost, type Figure, median, percentile } from './support/figures.ts'
import { openFilledDatabase } from './support/filled-database.ts'
import { type Bench, type Lab, settingsFor } from './support/lab.ts'
import { residentMb } from './support/measure.ts'
import type { SandboxProcess } from './support/sandbox-process.ts'
import { openWorkerProcess } from './support/worker-process.ts'

const TOKEN = 'of-this-bench-only-1234567890'
const SIGNED_IN = { authorization: `Bearer ${TOKEN}` }

const RUNS = 20
/** Addresses of one page that are asked for: the newest and others. */
const ALIKE = 2
/** Postgres counts what an idle connection did after ten seconds at the latest. */
const COUNTED_AFTER_MS = 11_000

/** What people write into forms. No link leads there. */
const SEARCHES = [
  '/rules?words=above+77777',
  '/rules?words=nothing+has+this',
  '/rules?label=service%3Dservice-77',
  '/rules?label=service%3Dnone',
  '/rules?sort=folder',
  '/rules?sort=updated',
  '/rules?sort=firing+since',
  '/rules?firing=no&enabled=no',
  '/rules?asOf=1h',
  '/rules?asOf=30d&words=above+77777',
  '/rules?asOf=200d&sort=folder',
  '/servers?words=server+77',
  '/servers?asOf=100d',
  '/search?q=above+77777',
  '/search?q=nothing+has+this',
  '/search?q=4203000077777',
  '/search?q=request-77',
  '/changes?by=editor+7',
  '/changes?by=nobody',
  '/changes?kind=removed',
  '/ledger?status=failed',
  '/ledger/calls?request_id=request-77',
  '/ledger/calls?request_id=none',
  '/ledger/audit?actor=nobody',
]

/**
 * How quickly each page of the console answers in a large database, how long it is and how it looks, how often an open first page asks
 * Postgres, and how much memory the console takes in a worker.
 */
export const consolePages: Bench = async lab => {
  const { databaseUrl, client } = await openFilledDatabase(lab)
  const sandbox = await lab.openSandbox({})
  const address = await serveConsole(lab, settingsFor(databaseUrl, sandbox))
  const ask: AskPage = path => askPage(address + path)
  const { addresses } = await walk(ask, ALIKE)
  const pages = await timesOfPages(ask, [...addresses, ...SEARCHES])
  const looks = hasChromium ? [await looksOf(address, addresses)] : []
  return [...pages, ...looks, await transactionsOfOpenPage(ask, client), await memoryOfConsole(lab)]
}

/** The console without a worker: nothing else asks Postgres. */
async function serveConsole(lab: Lab, settings: Record<string, string>): Promise<string> {
  const opened = new AsyncDisposableStack()
  lab.defer(() => opened.disposeAsync())
  const ferry = await lab.openFerry(settings)
  const http = opened.use(
    await openHttp({
      host: '127.0.0.1',
      port: 0,
      orFree: false,
      hosts: [],
      metricsToken: null,
      console: { operate: new Secret(TOKEN), read: null },
      signsInOnce: false,
      proxy: null,
      log: pino({ level: 'silent' }),
    }),
  )
  const countWaiting = async () => ({ sync: 0, import: 0 })
  await serveHttp(http, ferry, { countWaiting }, defineSchedules(ferry), opened)
  return http.address
}

async function askPage(url: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { headers: { accept: 'text/html', ...SIGNED_IN } })
  return { status: response.status, text: await response.text() }
}

type PageTimes = { readonly address: string; readonly tookMs: readonly number[]; readonly kB: number }

/** For each kind of address, the slowest of its addresses; and how long the longest of them is. */
async function timesOfPages(ask: AskPage, addresses: readonly string[]): Promise<Figure[]> {
  const kinds = Map.groupBy(addresses, kindOf)
  const figures: Figure[] = []
  for (const alike of kinds.values()) {
    const times: PageTimes[] = []
    for (const address of alike) times.push(await timesOf(ask, address))
    const p95 = ({ tookMs }: PageTimes) => percentile(tookMs, 0.95)
    const [slowest] = times.toSorted((a, b) => p95(b) - p95(a))
    if (!slowest) continue
    const kB = Math.max(...times.map(page => page.kB))
    const { address, tookMs } = slowest
    figures.push(
      {
        measure: `${address}: p95`,
        value: p95(slowest),
        unit: 'ms',
        wanted: atMost(300),
        rounds: { tookMs },
      },
      { measure: `${address}: without SVG`, value: kB, unit: 'kB', wanted: atMost(100, { always: true }) },
    )
  }
  return figures
}

async function timesOf(ask: AskPage, address: string): Promise<PageTimes> {
  const tookMs: number[] = []
  let kB = 0
  for (let run = 0; run < RUNS; run++) {
    const startedAtMs = performance.now()
    const { status, text } = await ask(address)
    tookMs.push(performance.now() - startedAtMs)
    if (status !== 200) throw new Error(`${address} answered ${status}: its time would say nothing`)
    kB = Buffer.byteLength(text.replaceAll(/<svg.*?<\/svg>/gs, '')) / 1_000
  }
  return { address, tookMs, kB }
}

/** What is too wide, hard to read or unusable on the pages of so many rows, on a phone and a screen, in light and dark. */
async function looksOf(address: string, addresses: readonly string[]): Promise<Figure> {
  await using browser = await openChromium()
  await using visit = await openVisit(browser, address, { extraHTTPHeaders: SIGNED_IN })
  const findings = await lookAt(visit, addresses, FOUR_LOOKS)
  for (const finding of findings) console.error(finding)
  const measure = `${addresses.length} pages in a browser, in four looks`
  return { measure, value: findings.length, unit: 'findings', wanted: atMost(0, { always: true }) }
}

/** Transactions a second. The first page reads all it shows in one, of about ten statements: 0.2 of them are two a second. */
async function transactionsOfOpenPage(ask: AskPage, client: Client): Promise<Figure> {
  const times = 20
  const { text } = await ask('/')
  const everyS = Number(/data-refresh="(\d+)"/.exec(text)?.[1]) / 1_000
  await delay(COUNTED_AFTER_MS)
  const before = await countTransactions(client)
  for (let time = 0; time < times; time++) await ask('/')
  await delay(COUNTED_AFTER_MS)
  const value = ((await countTransactions(client)) - before) / times / everyS
  return {
    measure: 'the first page, open, a second',
    value,
    unit: 'transactions',
    wanted: atMost(0.2, { always: true }),
  }
}

async function countTransactions(client: Client): Promise<number> {
  const { rows } = await client.query<{ done: string }>(
    'select xact_commit + xact_rollback as done from pg_stat_database where datname = current_database()',
  )
  return Number(rows[0]?.done)
}

/** Of one pair of workers, the figure varies by some megabytes: garbage is collected at any time. */
const PAIRS = 3

/** How much more memory a worker takes whose console was looked at, than one without. */
async function memoryOfConsole(lab: Lab): Promise<Figure> {
  const sandbox = await lab.openSandbox({ rules: 2_000, servers: 200 })
  const pairs = Array.from({ length: lab.size(PAIRS, 1) }, () => moreMemory(lab, sandbox))
  const moreMb = await Promise.all(pairs)
  return {
    measure: 'the console of a worker, used: resident',
    value: median(moreMb),
    rounds: { moreMb },
    unit: 'MB',
    wanted: atMost(20),
  }
}

async function moreMemory(lab: Lab, sandbox: SandboxProcess): Promise<number> {
  const port = await freePort()
  const without = await openWorkerProcess(lab, settingsFor(await lab.openDatabase(), sandbox))
  const env = { FERRY_CONSOLE: 'on', FERRY_CONSOLE_TOKEN: TOKEN, FERRY_HTTP_PORT: `${port}` }
  const used = await openWorkerProcess(lab, settingsFor(await lab.openDatabase(), sandbox, env))
  await Promise.race([delay(lab.size(15_000, 5_000)), used.ended, without.ended])
  const ask: AskPage = path => askPage(`http://127.0.0.1:${port}${path}`)
  for (let round = 0; round < lab.size(5, 1); round++) await walk(ask, ALIKE)
  // What was garbage is collected before long.
  await delay(lab.size(15_000, 1_000))
  return (await residentMb(used.pid)) - (await residentMb(without.pid))
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  listener.close()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
