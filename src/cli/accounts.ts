import type { Account, Config } from '#src/config.ts'
import type { Ferry } from '#src/ferry.ts'
import { isNot } from '#src/model/did-you-mean.ts'
import { UsageError } from './errors.ts'
import { printAside } from './output.ts'
import { findSandbox, SANDBOX } from './sandbox-note.ts'

export const HOW_TO_CONFIGURE = {
  found: 'no platform account is configured',
  whatToDo:
    'Set FERRY_BASE_URL to the address of the platform and FERRY_APP_KEY to an app_key of your account (or ' +
    'FERRY_ACCOUNTS_FILE for several). To try Ferry without one, run `ferry demo`, or keep `ferry up` running.',
}

/** Returns what `findAccounts` does. Throws `UsageError` if there is no account. */
export async function needAccounts(config: Config): Promise<Config> {
  const found = await findAccounts(config)
  if (found.accounts.length > 0) return found
  throw new UsageError(`${HOW_TO_CONFIGURE.found}. ${HOW_TO_CONFIGURE.whatToDo}`)
}

/**
 * Returns the configuration with its accounts. If it has none, adds the sandbox of a `ferry up` that is running on this data
 * directory.
 */
export async function findAccounts(config: Config): Promise<Config> {
  const note = config.accounts.length > 0 ? null : await findSandbox(config.dataDir)
  if (note === null) return config
  printAside(`No platform account is configured: using the sandbox of \`ferry up\` (process ${note.pid}).`)
  const { withAccount } = await import('#src/config.ts')
  return withAccount(config, SANDBOX, note.baseUrl, note.appKey)
}

/** Returns the account of this name, or all accounts without a name. Throws `UsageError` for an unknown name. */
export function accountsOf(config: Config, name: string | undefined): readonly Account[] {
  if (name === undefined) return config.accounts
  const account = config.accounts.find(account => account.name === name)
  if (account) return [account]
  throw noAccount(
    name,
    config.accounts.map(account => account.name),
  )
}

/** Whether the account is in the settings of this process: without its key, nothing can be asked for it. */
export function isConfigured({ accounts }: Pick<Config, 'accounts'>, name: string): boolean {
  return accounts.some(account => account.name === name)
}

/** Throws `UsageError` if `what` is of an account that is not configured here. */
export function expectConfigured(
  { accounts }: { readonly accounts: ReadonlyMap<string, unknown> },
  account: string,
  what: string,
): void {
  if (accounts.has(account)) return
  const here = [...accounts.keys()].join(', ')
  throw new UsageError(
    `${what} belongs to account ${account}, which is not configured here; the accounts here are: ${here}`,
  )
}

/** Throws `UsageError` if there are accounts, configured or in the data, and none has this name. */
export async function expectAccount(ferry: Ferry, name: string | undefined): Promise<void> {
  if (name === undefined || isConfigured(ferry.config, name)) return
  const known = await listKnownAccounts(ferry)
  if (known.length > 0 && !known.includes(name)) throw noAccount(name, known)
}

/** Throws `UsageError` if no account has this name: neither one that is configured nor one that the database has data for. */
export async function expectKnownAccount(ferry: Ferry, name: string): Promise<void> {
  const known = await listKnownAccounts(ferry)
  if (!known.includes(name)) throw noAccount(name, known)
}

/** The accounts that are configured here, and those that the database has data for. */
export async function listKnownAccounts({ config, pool }: Ferry): Promise<string[]> {
  const { listSyncedAccounts } = await import('#src/inventory/known-accounts.ts')
  const { listImportedAccounts } = await import('#src/imports/reporting/summary.ts')
  const configured = config.accounts.map(account => account.name)
  return [
    ...new Set([...configured, ...(await listSyncedAccounts(pool)), ...(await listImportedAccounts(pool))]),
  ]
}

function noAccount(name: string, names: readonly string[]): UsageError {
  return new UsageError(`${JSON.stringify(name)} ${isNot('an account', name, names)}`)
}
