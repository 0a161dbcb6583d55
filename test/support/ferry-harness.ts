import { pino } from 'pino'
import { readConfig } from '#src/config.ts'
import { type Ferry, openFerry } from '#src/ferry.ts'
import { type SyncRequest, syncInventory } from '#src/inventory/sync.ts'
import type { RunResult } from '#src/model/run.ts'
import type { SandboxOptions } from '#src/sandbox/options.ts'
import { type CheckedSandbox, openCheckedSandbox } from '#test/support/sandbox.ts'
import { openTestDatabase, type Tables } from './database.ts'
import { closeInTime } from './wait-for.ts'

export type FerryHarness = AsyncDisposable & {
  readonly ferry: Ferry
  readonly sandbox: CheckedSandbox
  readonly databaseUrl: string
  /** Syncs as a person would; alert rules of the account `default` unless said otherwise. */
  sync(request?: Partial<SyncRequest>): Promise<RunResult>
  /** Rows of a query, values as the driver gives them. */
  query<Row = Record<string, unknown>>(sql: string, params?: unknown[]): Promise<Row[]>
  /** Another Ferry on the same database and sandbox, as another process would be; `env` adds settings. */
  openFerry(env?: Record<string, string>): Promise<Ferry>
}

const NEVER = new AbortController().signal

/** Everything a sync needs, for real: a database of its own, a sandbox of its own, and Ferry between them. */
export async function openFerryHarness(
  sandboxOptions: Partial<SandboxOptions> = {},
  env: Record<string, string> = {},
  tables: Tables = {},
): Promise<FerryHarness> {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await openTestDatabase(tables))
  const sandbox = opened.use(await openCheckedSandbox({ limits: false, ...sandboxOptions }))
  const open = async (more: Record<string, string> = {}) => {
    const config = readConfig({
      DATABASE_URL: database.url,
      FERRY_BASE_URL: sandbox.baseUrl,
      FERRY_APP_KEY: sandbox.appKey,
      FERRY_LIST_LIMIT: '1000/1s',
      ...env,
      ...more,
    })
    return openFerry(config, { log: pino({ level: 'silent' }), signal: NEVER })
  }
  const ferry = opened.use(await open())
  const kept = opened.move()
  return {
    ferry,
    sandbox,
    databaseUrl: database.url,
    sync: request =>
      syncInventory(
        ferry,
        { account: 'default', resource: 'alert-rules', trigger: 'manual', ...request },
        NEVER,
      ),
    query: async (sql, params) => (await ferry.pool.query(sql, params)).rows,
    openFerry: async more => kept.use(await open(more)),
    [Symbol.asyncDispose]: () => closeInTime(kept),
  }
}
