import type { Logger } from 'pino'
import type { Account, Config } from '#src/config.ts'
import type { Ferry } from '#src/ferry.ts'
import type { SchemaPolicy } from '#src/store/migrate.ts'
import { explain, UsageError } from './errors.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { printAside } from './output.ts'
import { readSandboxNote } from './sandbox-note.ts'

/** What the work of a command is given. `signal` aborts at Ctrl-C. */
export type Session = { readonly config: Config; readonly log: Logger; readonly signal: AbortSignal }

/** What the work of a command that ends by itself is given. */
export type OneShot = Session & {
  /** From now on Ctrl-C only ends the watching: the exit code is what the work returns. */
  detachAtInterrupt(): void
}

/**
 * Runs the work of one command and sets the exit code: what it returns, or what goes with the error it throws.
 *
 * Ctrl-C (and SIGTERM) aborts the signal so that the work can clean up, and exits 130; a second one exits at once.
 */
export async function oneShot(work: (session: OneShot) => Promise<ExitCode>): Promise<void> {
  let detaches = false
  const interruption = new AbortController()
  const interrupt = () => {
    if (interruption.signal.aborted) process.exit(EXIT.interrupted)
    interruption.abort(new Error('interrupted'))
  }
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt)
  try {
    const session = await openSession('warn', interruption.signal)
    const detachAtInterrupt = () => {
      detaches = true
    }
    process.exitCode = await work({ ...session, detachAtInterrupt })
  } catch (error) {
    process.exitCode = interruption.signal.aborted ? EXIT.interrupted : explain(error)
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
  if (interruption.signal.aborted && !detaches) process.exitCode = EXIT.interrupted
}

export async function openSession(level: 'info' | 'warn', signal: AbortSignal): Promise<Session> {
  const { readConfig } = await import('#src/config.ts')
  const { openLog } = await import('./log.ts')
  const config = readConfig()
  return { config, log: openLog(config.logLevel ?? level), signal }
}

type Work = (ferry: Ferry, session: OneShot) => Promise<ExitCode>

/** Runs one command's work on an open Ferry. Only `migrate` and what serves bring an older schema up to date. */
export function withFerry(schema: SchemaPolicy, work: Work): Promise<void> {
  return withAccountsOf(async config => config, schema, work)
}

/** The same for work that needs an account: those configured, or the sandbox of a `ferry up` that runs here. */
export function withAccounts(schema: SchemaPolicy, work: Work): Promise<void> {
  return withAccountsOf(needAccounts, schema, work)
}

/** The same for work that knows more with accounts, and does without: the limits of an import that is watched. */
export function withKnownAccounts(schema: SchemaPolicy, work: Work): Promise<void> {
  return withAccountsOf(findAccounts, schema, work)
}

function withAccountsOf(
  accountsIn: (config: Config) => Promise<Config>,
  schema: SchemaPolicy,
  work: Work,
): Promise<void> {
  return oneShot(async session => {
    const config = await accountsIn(session.config)
    const { openFerry } = await import('#src/ferry.ts')
    await using ferry = await openFerry(config, { ...session, schema })
    if (schema === 'create' && ferry.migrated > 0) await makeQueue(ferry)
    return await work(ferry, { ...session, config })
  })
}

/** The queue's tables come with Ferry's own: else `doctor` would miss them until a worker has run. */
async function makeQueue(ferry: Ferry): Promise<void> {
  const { migrateQueue } = await import('#src/queue/backend.ts')
  await migrateQueue(ferry.backend)
}

export const HOW_TO_CONFIGURE = {
  found: 'no platform account is configured',
  whatToDo:
    'Set FERRY_BASE_URL to the address of the platform and FERRY_APP_KEY to an app_key of your account (or ' +
    'FERRY_ACCOUNTS_FILE for several). To look around without one: `ferry demo`, or `ferry up` and this beside it.',
}

/** Throws `UsageError` if no account is configured and no sandbox runs here. */
export async function needAccounts(config: Config): Promise<Config> {
  const found = await findAccounts(config)
  if (found.accounts.length > 0) return found
  throw new UsageError(`${HOW_TO_CONFIGURE.found}. ${HOW_TO_CONFIGURE.whatToDo}`)
}

/** The accounts configured, else the sandbox of a `ferry up` that runs on this data directory, else none. */
export async function findAccounts(config: Config): Promise<Config> {
  const note = config.accounts.length > 0 ? null : readSandboxNote(config.dataDir)
  if (note === null) return config
  printAside(`No platform account is configured: using the sandbox of \`ferry up\` (process ${note.pid}).`)
  const { withAccount } = await import('#src/config.ts')
  return withAccount(config, 'sandbox', note.baseUrl, note.appKey)
}

/** The accounts a command is about: the one named, or all. */
export function accountsOf(config: Config, name: string | undefined): readonly Account[] {
  if (name === undefined) return config.accounts
  const account = config.accounts.find(account => account.name === name)
  if (account) return [account]
  throw noAccount(
    name,
    config.accounts.map(account => account.name),
  )
}

/** Throws `UsageError` if accounts are configured, and the one named is none of them and nothing is recorded of it. */
export async function expectAccount(ferry: Ferry, name: string | undefined): Promise<void> {
  const configured = ferry.config.accounts.map(account => account.name)
  if (name === undefined || configured.length === 0 || configured.includes(name)) return
  const { loadKnownAccounts } = await import('#src/store/known-accounts.ts')
  const known = await loadKnownAccounts(ferry.pool)
  if (!known.includes(name)) throw noAccount(name, [...new Set([...configured, ...known])])
}

function noAccount(name: string, names: readonly string[]): UsageError {
  return new UsageError(`there is no account ${JSON.stringify(name)}; there are: ${names.join(', ')}`)
}
