import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { chmod, mkdtemp, readlink, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { pino } from 'pino'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '#src/embedded/postgres.ts'
import { findPostmaster, type Postmaster } from '#src/embedded/server.ts'
import { waitFor } from '#test/support/wait-for.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What a holder says of itself, and the means to end it. */
export type Holder = Pick<EmbeddedPostgres, 'url' | 'startedHere' | 'how'> & {
  readonly process: ChildProcess
  /** Ends its input, upon which it closes its Postgres, and waits for its end. */
  leave(): Promise<void>
  kill(signal: NodeJS.Signals): Promise<void>
}

/**
 * A data directory of its own, removed at the end together with any server that still runs on it. A copy of one
 * that was initialised before saves a second.
 */
export async function openEmbeddedHarness({ mode = 0o755, copyOf }: { mode?: number; copyOf?: string } = {}) {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'ferry-embedded-')))
  await chmod(top, mode)
  const dataDir = join(top, 'data')
  if (copyOf) execFileSync('cp', ['-a', copyOf, dataDir])
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: line => lines.push(line) })
  const home = async () => await readlink(join(dataDir, 'postgres')).catch(() => join(dataDir, 'postgres'))
  const postmaster = async (): Promise<Postmaster | undefined> => findPostmaster(await home())
  return {
    top,
    dataDir,
    lines,
    open: () => openEmbeddedPostgres({ dataDir, log }),
    hold: (options?: HoldOptions) => hold(dataDir, options),
    home,
    postmaster,
    async [Symbol.asyncDispose]() {
      const left = await postmaster()
      if (left) process.kill(left.pid, 'SIGQUIT')
      await waitFor(async () => !(await postmaster()), { what: 'the server to end' })
      const elsewhere = await readlink(join(dataDir, 'postgres')).catch(() => undefined)
      if (elsewhere) await rm(dirname(elsewhere), { recursive: true })
      await rm(top, { recursive: true, maxRetries: 5 })
    },
  }
}

export type HoldOptions = Pick<SpawnOptions, 'uid' | 'gid' | 'detached'> & {
  /** Where the project is; elsewhere than here in a namespace where it is mounted once more. */
  readonly root?: string
  /** A command line that runs the command line given to it. */
  readonly through?: readonly string[]
}

/** Another process that is about to open `dataDir`. */
export function spawnHolder(dataDir: string, { root = ROOT, through = [], ...options }: HoldOptions = {}) {
  const holder = [process.execPath, join(root, 'test/embedded/holder.ts'), dataDir]
  const [command = '', ...args] = [...through, ...holder]
  return spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'], cwd: '/' })
}

/** Another process that has opened `dataDir`. */
async function hold(dataDir: string, options?: HoldOptions): Promise<Holder> {
  const child = spawnHolder(dataDir, options)
  const ended = new Promise<void>(resolve => child.on('exit', () => resolve()))
  let said = ''
  let complained = ''
  child.stdout.setEncoding('utf8').on('data', chunk => {
    said += chunk
  })
  child.stderr.setEncoding('utf8').on('data', chunk => {
    complained += chunk
  })
  await waitFor(() => said.includes('\n') || child.exitCode !== null || child.signalCode !== null, {
    what: 'the holder',
  })
  if (!said.includes('\n')) throw new Error(`The holder failed: ${complained}`)
  return {
    ...(JSON.parse(said) as Holder),
    process: child,
    leave: () => {
      child.stdin.end()
      return ended
    },
    kill: signal => {
      child.kill(signal)
      return ended
    },
  }
}

/** The first column of the first row. */
export async function ask(url: string, sql: string): Promise<unknown> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}
