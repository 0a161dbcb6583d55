import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { waitFor } from '#test/support/wait-for.ts'

export const FERRY = fileURLToPath(new URL('../../src/cli/ferry.ts', import.meta.url))

/** What every command gets from its environment; the cache as `bin/ferry` sets it. */
export const COMMON_ENV = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/ferry', import.meta.url)),
}

export type Env = Readonly<Record<string, string>>

export type Ended = {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export type RunningFerry = AsyncDisposable & {
  readonly child: ChildProcess
  readonly output: { stdout: string; stderr: string }
  /** Resolves once it has printed `text`, on stdout or stderr; fails if it ends before. */
  printed(text: string): Promise<void>
  ended: Promise<Ended>
}

/** Starts the command line in a process of its own, with these settings and no others. `entry` is that of another copy. */
export function startFerry(
  args: readonly string[],
  env: Env = {},
  nodeArgs: readonly string[] = [],
  entry = FERRY,
): RunningFerry {
  const child = spawn(process.execPath, [...nodeArgs, entry, ...args], {
    env: { ...COMMON_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', text => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    output.stderr += text
  })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }))
  return {
    child,
    output,
    ended,
    async printed(text) {
      const there = () => output.stdout.includes(text) || output.stderr.includes(text)
      const gone = ended.then(end => {
        if (!there()) throw new Error(`ferry ended before it printed ${text}: ${JSON.stringify(end)}`)
      })
      await Promise.race([gone, waitFor(there, { what: `ferry to print ${text}` })])
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Runs the command line to its end, in a process of its own. */
export async function runFerry(args: readonly string[], env: Env = {}): Promise<Ended> {
  await using ferry = startFerry(args, env)
  return await ferry.ended
}

const SERVICES = new Set(['up', 'worker', 'sandbox', 'demo'])

let running: Promise<unknown> = Promise.resolve()

/**
 * Runs the command line to its end in this process, with these settings and no others: the same as `runFerry`, without
 * the half second that a new process loads modules. Commands started together take turns. A service still gets a process,
 * because it ends its own.
 */
export function runFerryHere(args: readonly string[], env: Env = {}): Promise<Ended> {
  if (SERVICES.has(args[0] ?? '')) return runFerry(args, env)
  const run = running.then(() => capture(args, env))
  running = run.catch(() => {})
  return run
}

async function capture(args: readonly string[], env: Env): Promise<Ended> {
  const { runProgram } = await import('#src/cli/program.ts')
  const { exitCode } = process
  const environment = { ...process.env }
  const streams = (['stdout', 'stderr'] as const).map(name => ({ name, write: process[name].write }))
  const output = { stdout: '', stderr: '' }
  for (const { name } of streams) {
    process[name].write = (text: string | Uint8Array, ...more: unknown[]) => {
      output[name] += typeof text === 'string' ? text : Buffer.from(text).toString()
      const written = more.at(-1)
      if (typeof written === 'function') queueMicrotask(() => written())
      return true
    }
  }
  setEnvironment({ ...COMMON_ENV, ...env })
  process.exitCode = undefined
  try {
    await runProgram([process.execPath, FERRY, ...args])
    return { code: Number(process.exitCode ?? 0), signal: null, ...output }
  } finally {
    for (const { name, write } of streams) process[name].write = write
    setEnvironment(environment)
    process.exitCode = exitCode
  }
}

function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) delete process.env[name]
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value
}

/** The objects on the lines of stdout. Fails if anything else is there. */
export function jsonLines({ stdout }: Pick<Ended, 'stdout'>): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
}

/** The keys of an import's summary in JSON, in the order that is promised to scripts. */
export const SUMMARY_KEYS = [
  'import',
  'account',
  'page',
  'status',
  'read',
  'sent',
  'rejected',
  'duplicate',
  'suppressed',
].concat(['alreadyImported', 'uncertain', 'pending', 'batches', 'requests', 'durationMs'])
