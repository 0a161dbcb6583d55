import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { defineSchedules } from '#jobs/schedules.ts'
import { serveHttp } from '#src/cli/worker-http.ts'
import { readConfig } from '#src/config.ts'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'
import { openFerry } from '#src/ferry.ts'
import { openHttp } from '#src/http/server.ts'
import { Secret } from '#src/model/secret.ts'
import { openSandbox } from '#src/sandbox/sandbox.ts'
import { openChromium } from '#test/http/console/browser/chromium.ts'
import { walk } from '#test/http/console/walk.ts'
import { fillEvening } from '#test/support/evening.ts'
import { type Days, fillWorkingDays } from '#test/support/working-days.ts'

/*
 * `npm run screenshots` writes the pictures of docs/images from a Ferry that has worked for some days. It needs Chromium.
 *
 *     npm run screenshots                       the pictures of the README, docs/console.md and docs/evening.md
 *     npm run screenshots -- --all /tmp/shots   every page, on a screen and a phone, light and dark: to look at
 */

const IMAGES = fileURLToPath(new URL('images/', import.meta.url))

const SCREEN = { width: 1280, height: 780 }
const PHONE = { width: 390, height: 844 }

type Shot = {
  readonly name: string
  /** A path with `*` for its parts that are not known: the first such link is followed. */
  readonly path: string
  readonly size?: typeof SCREEN
  readonly colorScheme?: 'light' | 'dark'
}

const SHOTS: readonly Shot[] = [
  { name: 'now', path: '/' },
  { name: 'now-phone', path: '/', size: PHONE, colorScheme: 'dark' },
  { name: 'rules', path: '/rules' },
  { name: 'changes', path: '/changes?kind=changed&resource=alert-rules' },
  { name: 'firing', path: '/firing', colorScheme: 'dark' },
  { name: 'import', path: '/imports/*' },
  { name: 'mcp-changes', path: '/mcp/changes', colorScheme: 'dark' },
  { name: 'holds', path: '/ledger/holds/*' },
]

const TOKEN = 'of-these-pictures-1234567890'
const SIGNED_IN = { authorization: `Bearer ${TOKEN}` }

const { values: options } = parseArgs({ options: { all: { type: 'string' } } })
const log = pino({ level: 'silent' })
const signal = new AbortController().signal

await using opened = new AsyncDisposableStack()
const days = await openConsole(fillWorkingDays)
const { addresses } = await walk(async path => {
  const response = await fetch(days.address + path, { headers: { accept: 'text/html', ...SIGNED_IN } })
  return { status: response.status, text: await response.text() }
}, 2)
const browser = await openChromium()
opened.defer(() => browser.close())
if (options.all) {
  for (const path of addresses) {
    for (const size of [SCREEN, PHONE]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const name = `${path.replaceAll(/[^\w]+/g, '-').slice(0, 60)}-${size.width}-${colorScheme}`
        await shoot(days.address, { name, path, size, colorScheme }, options.all, true)
      }
    }
  }
} else {
  for (const shot of SHOTS) await shoot(days.address, shot, IMAGES, false)
  const evening = await openConsole(fillEvening)
  const path = `/at/${new Date(Date.now() - evening.filled * 60_000).toISOString()}?words=checkout`
  await shoot(evening.address, { name: 'lens', path, size: { width: 1280, height: 860 } }, IMAGES, false)
}

/** A Ferry with a history, on a Postgres in a temporary directory. Returns the address of its console, and what filled it says. */
async function openConsole<Filled>(
  fill: (days: Days) => Promise<Filled>,
): Promise<{ readonly address: string; readonly filled: Filled }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ferry-screenshots-'))
  opened.defer(() => rm(dataDir, { recursive: true, force: true }))
  const postgres = opened.use(await openEmbeddedPostgres({ dataDir, log }))
  const sandbox = opened.use(await openSandbox({ rules: 60, servers: 18, limits: false }))
  const config = readConfig({
    DATABASE_URL: postgres.url,
    FERRY_BASE_URL: sandbox.baseUrl,
    FERRY_APP_KEY: sandbox.appKey,
  })
  const ferry = opened.use(await openFerry(config, { log, signal, schema: 'update' }))
  const filled = await fill({ ferry, sandbox })
  const http = opened.use(
    await openHttp({
      ...config.http,
      host: '127.0.0.1',
      port: 0,
      orFree: false,
      console: { operate: new Secret(TOKEN), read: null },
      signsInOnce: false,
      log,
    }),
  )
  const countWaiting = async () => ({ sync: 0, import: 0 })
  await serveHttp(http, ferry, { countWaiting }, defineSchedules(ferry), opened)
  return { address: http.address, filled }
}

async function shoot(
  address: string,
  { name, path, size = SCREEN, colorScheme = 'light' }: Shot,
  to: string,
  fullPage: boolean,
): Promise<void> {
  const wanted = new RegExp(`^${path.replaceAll('*', '[^/?]+')}$`)
  const found = path.includes('*') ? addresses.find(one => wanted.test(one)) : path
  if (found === undefined) throw new Error(`no page links to ${path}`)
  const context = await browser.newContext({
    baseURL: address,
    viewport: size,
    colorScheme,
    timezoneId: 'UTC',
    extraHTTPHeaders: SIGNED_IN,
  })
  const page = await context.newPage()
  await page.goto(found)
  await mkdir(to, { recursive: true })
  const file = join(to, `${name}.png`)
  await page.screenshot({ path: file, fullPage })
  await context.close()
  process.stdout.write(`${file}: ${Math.round((await stat(file)).size / 1_000)} kB\n`)
}
