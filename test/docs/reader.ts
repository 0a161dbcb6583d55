import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect } from 'vitest'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { freePort } from '#test/support/own-redis.ts'
import { waitFor } from '#test/support/wait-for.ts'
import type { DocCommand } from './doc-commands.ts'
import { ELSEWHERE } from './elsewhere.ts'
import { copyOfFerry } from './ferry-copy.ts'
import { valuesFor } from './needs.ts'
import { pathOf } from './pages.ts'
import { type Env, type Place, type RunningShell, runShell, startShell } from './shell.ts'
import { writeStandIns } from './stand-ins.ts'

const FERRY = pathOf('.')

/** What is printed by commands that run until Ctrl-C, once they are ready; no other command prints it. */
const SERVES = /\bferry (?:up|worker|sandbox)\b|\bnpm start\b/
const IS_READY = /Ctrl-C|^prune /m

const PLACEHOLDER = /(?<=\s)(?:[A-Z]+|…)(?=\s|$)/

/** What asks a person at a terminal: here the answer is yes. */
const ASKS = /^ferry (?:import (?!.*--dry-run)|imports (?:cancel|purge))/

/** What is typed in Ferry's own directory. What writes there gets a copy of it. */
const IN_FERRY = /^(?:npm|bin\/|\.ci\/)/
const WRITES = /^npm (?:version|run (?:lint|docs|generate))\b/m

type Serving = { readonly line: string; readonly shell: RunningShell }

/** Somebody who reads a page and types what it says, with a database, a platform and a home directory of their own. */
export type Reader = AsyncDisposable & {
  readonly home: string
  type(command: Omit<DocCommand, 'page'>): Promise<void>
}

export async function openReader(): Promise<Reader> {
  await using opened = new AsyncDisposableStack()
  const settings = { FERRY_IMPORT_LIMIT: '50/1s', FERRY_ARRIVAL_BOUND: '500ms' }
  const harness = opened.use(await openFerryHarness({ rules: 12, servers: 2 }, settings))
  const home = mkdtempSync(join(tmpdir(), 'ferry-reader-'))
  opened.defer(() => rmSync(home, { recursive: true, force: true }))
  const env: Env = { ...settings, ...environmentIn(home, harness) }
  const port = await freePort()
  const serving: Serving[] = []
  opened.defer(async () => {
    for (const one of serving.toReversed()) await stop(one)
  })

  async function runToEnd(text: string, place: Place): Promise<void> {
    const isPath = /^\S+\//.test(text) // so no stand-in is found for it
    const ended = await runShell((isPath && ELSEWHERE[text]?.instead) || text, place)
    expect(ended, `${text}\n${ended.stdout}`).toMatchObject({
      code: 0,
      stderr: expect.not.stringMatching(/\berror\b/i),
    })
  }

  /** Starts a line that runs until Ctrl-C, and waits until it is ready. */
  async function serve(line: string, place: Place): Promise<Serving> {
    await using starting = new AsyncDisposableStack()
    const shell = starting.use(startShell(line, place))
    let isOver = false
    shell.ended.then(() => {
      isOver = true
    })
    const isReady = () => isOver || IS_READY.test(shell.printed())
    await waitFor(isReady, { what: line })
    expect(isOver, `${line} ended:\n${shell.printed()}`).toBe(false)
    starting.move()
    return { line, shell }
  }

  function placeOf(text: string): Place {
    const ownAccount = { ...env, FERRY_BASE_URL: '', FERRY_APP_KEY_FILE: '' }
    const cwd = WRITES.test(text) ? copyOfFerry(home) : IN_FERRY.test(text) ? FERRY : home
    return { cwd, env: text.includes('FERRY_BASE_URL=') ? ownAccount : env }
  }

  async function type({ kind, text }: Omit<DocCommand, 'page'>): Promise<void> {
    const place = placeOf(text)
    for (const part of kind === 'inline' ? [text] : terminalsOf(text)) {
      const values = await valuesFor(part, harness, home)
      const filled = fill(part, values)
        .replaceAll('https://api.example.com', harness.sandbox.baseUrl)
        .replaceAll('8080', `${port}`)
        // What stands before every command: any will do.
        .replace(/ --$/, ' -- doctor')
      if (kind === 'inline') expect(filled, 'all placeholders stand for something').not.toMatch(PLACEHOLDER)
      const line = kind === 'inline' && ASKS.test(filled) ? `${filled} --yes` : filled
      if (!SERVES.test(line)) await runToEnd(line, place)
      else if (kind === 'inline') await stop(await serve(line, place))
      else serving.push(await serve(line, place))
    }
  }

  const kept = opened.move()
  return { home, type, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** A block is pasted whole; but a line that runs until Ctrl-C keeps its terminal, so then each line has its own. */
function terminalsOf(block: string): string[] {
  return SERVES.test(block) ? block.replaceAll('\\\n', ' ').trim().split('\n') : [block]
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/(?<=\s)[\w…-]+(?=\s|$)/g, word => values[word] ?? word)
}

/** Ctrl-C must end it as a success. */
async function stop({ line, shell }: Serving): Promise<void> {
  await using ending = shell
  ending.interrupt()
  expect(await ending.ended, `${line}\n${ending.printed()}`).toBe(0)
}

function environmentIn(home: string, { databaseUrl, sandbox }: FerryHarness): Env {
  const standIns = join(home, 'stand-ins')
  writeStandIns(standIns)
  writeFileSync(join(home, 'app_key'), sandbox.appKey)
  // As `npm link` does, which only the README's reader runs.
  mkdirSync(join(home, 'bin'))
  symlinkSync(join(FERRY, 'bin/ferry'), join(home, 'bin/ferry'))
  return {
    HOME: home,
    PATH: [standIns, join(home, 'npm/bin'), join(home, 'bin'), process.env.PATH].join(delimiter),
    npm_config_prefix: join(home, 'npm'),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    FERRY,
    APP_KEY: sandbox.appKey,
    DATABASE_URL: databaseUrl,
    FERRY_DATA_DIR: home,
    FERRY_BASE_URL: sandbox.baseUrl,
    FERRY_APP_KEY_FILE: join(home, 'app_key'),
  }
}
