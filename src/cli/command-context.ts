import type { LevelMapping, Logger } from 'pino'
import type { Config, LogLevel } from '#src/config.ts'
import type { SchemaPolicy } from '#src/db/migrate.ts'
import type { Ferry } from '#src/ferry.ts'
import { safeJson } from '#src/model/json-text.ts'
import { findAccounts, needAccounts } from './accounts.ts'
import { explain } from './errors.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { harmless } from './output.ts'

/** What every command works with. `signal` aborts at Ctrl-C. */
export type CommandContext = { readonly config: Config; readonly log: Logger; readonly signal: AbortSignal }

/** The context of a command that ends by itself. */
export type OneShotContext = CommandContext & {
  /** From now on Ctrl-C only ends watching: the exit code is the one that the work returns. */
  detachAtInterrupt(): void
}

/**
 * Runs the work of one command and sets the exit code: the one that the work returns, or the one of the error it throws.
 *
 * Ctrl-C or SIGTERM aborts the signal, so that the work can clean up, and exits 130. A second one exits at once.
 */
export async function runOneShot(work: (context: OneShotContext) => Promise<ExitCode>): Promise<void> {
  let detaches = false
  const interruption = new AbortController()
  const interrupt = () => {
    if (interruption.signal.aborted) process.exit(EXIT.interrupted)
    interruption.abort(new Error('interrupted'))
  }
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt)
  try {
    const context = await openCommandContext('warn', interruption.signal)
    const detachAtInterrupt = () => {
      detaches = true
    }
    process.exitCode = await work({ ...context, detachAtInterrupt })
  } catch (error) {
    process.exitCode = interruption.signal.aborted ? EXIT.interrupted : explain(error)
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
  if (interruption.signal.aborted && !detaches) process.exitCode = EXIT.interrupted
}

export async function openCommandContext(
  level: 'info' | 'warn',
  signal: AbortSignal,
): Promise<CommandContext> {
  const { readConfig, secretFiles } = await import('#src/config.ts')
  const config = readConfig()
  const log = await openLog(config.logLevel ?? level)
  secretFiles.subscribe(trouble =>
    log.warn(
      trouble,
      'The file of a secret was changed, but cannot be used; Ferry keeps the secret that it had.',
    ),
  )
  return { config, log, signal }
}

/** Opens a logger on stderr: lines of JSON, or plain lines if stderr is a terminal. */
async function openLog(level: LogLevel): Promise<Logger> {
  const { pino } = await import('pino')
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  return process.stderr.isTTY
    ? pino(options, { write: line => writePlain(line, pino.levels.labels) })
    : pino(options, { write: line => process.stderr.write(safeJson(line)) })
}

type LogLine = { level: number; time: string; msg?: string; err?: { message?: string } } & Record<
  string,
  unknown
>

function writePlain(json: string, labels: LevelMapping['labels']): void {
  const { level, time, msg = '', err, ...rest }: LogLine = JSON.parse(json)
  const details = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  const parts = [time.slice(11, 19), labels[level], msg, err?.message ?? '', ...details]
  process.stderr.write(`${harmless(parts.filter(Boolean).join(' '))}\n`)
}

type Work = (ferry: Ferry, context: OneShotContext) => Promise<ExitCode>

/** Runs a command's work on an open Ferry. Only `migrate`, `up` and `worker` bring an older schema up to date. */
export function withFerry(schema: SchemaPolicy, work: Work): Promise<void> {
  return withAccountsOf(async config => config, schema, work)
}

/** The same for work that needs accounts: the configured ones, or the sandbox of a `ferry up` that is running here. */
export function withAccounts(schema: SchemaPolicy, work: Work): Promise<void> {
  return withAccountsOf(needAccounts, schema, work)
}

/** The same for work that uses accounts if there are any, as for the limits of an import that is watched. */
export function withKnownAccounts(schema: SchemaPolicy, work: Work): Promise<void> {
  return withAccountsOf(findAccounts, schema, work)
}

function withAccountsOf(
  accountsIn: (config: Config) => Promise<Config>,
  schema: SchemaPolicy,
  work: Work,
): Promise<void> {
  return runOneShot(async context => {
    const config = await accountsIn(context.config)
    const { openFerry } = await import('#src/ferry.ts')
    await using ferry = await openFerry(config, { ...context, schema })
    if (schema === 'create' && ferry.migrated > 0) await createQueueTables(ferry)
    return await work(ferry, { ...context, config })
  })
}

/** Creates the queue's tables together with Ferry's. Otherwise `doctor` would miss them until a worker has run. */
async function createQueueTables(ferry: Ferry): Promise<void> {
  const { migrateQueue } = await import('#src/queue/backend.ts')
  await migrateQueue(ferry.backend)
}
