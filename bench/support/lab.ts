import { Client } from 'pg'
import { pino } from 'pino'
import { readConfig } from '#src/config.ts'
import { migrate } from '#src/db/migrate.ts'
import { type Ferry, openFerry } from '#src/ferry.ts'
import type { SandboxOptions } from '#src/sandbox/options.ts'
import type { Figure } from './figures.ts'
import { openSandboxProcess, type SandboxProcess } from './sandbox-process.ts'
import type { Server } from './server.ts'

/** One question about speed or size, and how it is answered. */
export type Bench = (lab: Lab) => Promise<readonly Figure[]>

/** What a bench works with. All that it opens is closed after the bench, in the reverse order. */
export type Lab = {
  readonly quick: boolean
  readonly long: boolean
  /** `full`, or `quick` with `--quick`. */
  size(full: number, quick: number): number
  /** A fresh database with Ferry's tables. */
  openDatabase(): Promise<string>
  /** Without limits of its own unless they are asked for: they are to be kept, not enforced. */
  openSandbox(options: Partial<SandboxOptions>): Promise<SandboxProcess>
  /** Ferry in this process; all of its settings but these are the defaults. */
  openFerry(settings: Record<string, string>): Promise<Ferry>
  connect(databaseUrl: string): Promise<Client>
  /** Whatever else is to be undone after the bench. */
  defer(undo: () => Promise<void>): void
}

/** Where Ferry's database and platform are, as settings. */
export function settingsFor(
  databaseUrl: string,
  sandbox: SandboxProcess,
  more: Record<string, string> = {},
): Record<string, string> {
  return { DATABASE_URL: databaseUrl, ...accountOf(sandbox), ...more }
}

/** One account, `default`, as settings. */
export function accountOf({ baseUrl, appKey }: SandboxProcess): Record<string, string> {
  return { FERRY_BASE_URL: baseUrl, FERRY_APP_KEY: appKey }
}

export function openLab(
  server: Server,
  opened: AsyncDisposableStack,
  { quick, long }: Pick<Lab, 'quick' | 'long'>,
): Lab {
  return {
    quick,
    long,
    size: (full, small) => (quick ? small : full),
    async openDatabase() {
      const { url } = opened.use(await server.createDatabase())
      await migrate(url)
      return url
    },
    openSandbox: async options => opened.use(await openSandboxProcess({ limits: false, ...options })),
    openFerry: async settings =>
      opened.use(await openFerry(readConfig(settings), { log: pino({ level: 'silent' }), signal: NEVER })),
    async connect(databaseUrl) {
      const client = new Client({ connectionString: databaseUrl, application_name: 'ferry bench' })
      client.on('error', () => {}) // its queries fail too, and are heard
      await client.connect()
      opened.defer(() => client.end())
      return client
    },
    defer: undo => opened.defer(undo),
  }
}

export const NEVER = new AbortController().signal
