import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

/** Names of Chromium and of what is built from it, on Debian, Fedora, Alpine, Ubuntu, macOS. The first has no windows, and is faster. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
]
const ELSEWHERE = [
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const DIRECTORIES = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']
const PROGRAM = [...DIRECTORIES.flatMap(at => NAMES.map(name => join(at, name))), ...ELSEWHERE].find(
  existsSync,
)

/** Tests that need a browser are skipped where none is installed. Their titles say so. */
export const hasChromium = PROGRAM !== undefined
export const IN_A_BROWSER = `in a browser${hasChromium ? '' : ' (NOT RUN: it needs Chromium, Debian package chromium-headless-shell)'}`

/** It is alone on its machine: it asks nobody for updates, and nobody for a proxy. */
const ARGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--no-proxy-server',
]

/** A browser of its own, with a profile that is removed when it is closed. Loaded only where it is used. */
export async function openChromium(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  // Chromium cannot put root into its sandbox.
  const args = process.getuid?.() === 0 ? [...ARGS, '--no-sandbox'] : ARGS
  return chromium.launch({ executablePath: PROGRAM ?? '', args, timeout: 60_000 })
}

export type Visit = AsyncDisposable & {
  readonly page: Page
  /** What should not happen: errors of scripts, refusals of the content security policy, requests to other hosts, dialogs. */
  readonly problems: string[]
}

/** Opens one window on a server, in a profile of its own. A test that fails leaves nothing to the next one. */
export async function openVisit(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ baseURL: address, timezoneId: 'Asia/Kolkata', ...options })
  context.setDefaultTimeout(20_000)
  const problems: string[] = []
  context.on('request', request => {
    if (new URL(request.url()).origin !== address) problems.push(`asked ${request.url()}`)
  })
  context.on('weberror', error => problems.push(`threw ${error.error()}`))
  context.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning')
      problems.push(`said ${message.text()} at ${message.location().url}`)
  })
  context.on('dialog', dialog => {
    problems.push(`opened a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  const page = await context.newPage()
  return { page, problems, [Symbol.asyncDispose]: () => context.close() }
}
