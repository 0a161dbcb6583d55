import { createHash } from 'node:crypto'
import { Secret } from '../model/secret.ts'
import { type ReadEntry, readAccountsFile, readText } from './accounts-file.ts'
import type { Environment } from './settings.ts'
import type { Limit } from './values.ts'

export type AccountDefaults = {
  /** The folders whose alert rules are listed; 0 stands for all the key may view. */
  readonly folders: readonly bigint[]
  readonly pageLimit: number
  readonly includeAccount: boolean
  readonly importLimit: Limit
  readonly listLimit: Limit
}

export type Account = AccountDefaults & {
  readonly name: string
  /** Without a slash at its end; it may have a path. */
  readonly baseUrl: string
  /** Where the address was set, in words. */
  readonly baseUrlSetting: string
  readonly appKey: Secret
  /** Says whether two keys are the same without saying what they are. */
  readonly keyHash: string
  /** Accounts of one group are counted together by the platform; the account's own name if none is given. */
  readonly limitGroup: string
}

type Given = Readonly<Record<string, string>>
type Source = Pick<Account, 'name' | 'baseUrl' | 'baseUrlSetting' | 'appKey'> & {
  readonly limitGroup?: string | undefined
} & {
  readonly [Key in keyof AccountDefaults]?: AccountDefaults[Key] | undefined
}

/** Completes an account from the defaults. */
export function accountOf(defaults: AccountDefaults, source: Source): Account {
  return Object.freeze({
    name: source.name,
    baseUrl: source.baseUrl,
    baseUrlSetting: source.baseUrlSetting,
    appKey: source.appKey,
    // 64 bits: enough to tell keys apart, too few to be the key's fingerprint anywhere else.
    keyHash: createHash('sha256').update(source.appKey.reveal()).digest('hex').slice(0, 16),
    limitGroup: source.limitGroup ?? source.name,
    folders: source.folders ?? defaults.folders,
    pageLimit: source.pageLimit ?? defaults.pageLimit,
    includeAccount: source.includeAccount ?? defaults.includeAccount,
    importLimit: source.importLimit ?? defaults.importLimit,
    listLimit: source.listLimit ?? defaults.listLimit,
  })
}

/**
 * Reads the one account of the environment, or those of the accounts file; adds what is wrong to `mistakes`.
 * `variables` are those that the file refers to, whatever they are called.
 */
export function readAccounts(given: Given, settings: Environment, mistakes: string[]) {
  const defaults: AccountDefaults = {
    folders: settings.FERRY_FOLDERS,
    pageLimit: settings.FERRY_PAGE_LIMIT,
    includeAccount: settings.FERRY_INCLUDE_ACCOUNT,
    importLimit: settings.FERRY_IMPORT_LIMIT,
    listLimit: settings.FERRY_LIST_LIMIT,
  }
  const path = given.FERRY_ACCOUNTS_FILE
  const entries = path === undefined ? [] : readAccountsFile(path, mistakes)
  const sources =
    path === undefined
      ? defaultAccount(given, settings, mistakes)
      : fromFile(entries, given, settings, mistakes)
  for (const name of path === undefined ? [] : ['FERRY_BASE_URL', 'FERRY_APP_KEY', 'FERRY_APP_KEY_FILE']) {
    if (given[name])
      mistakes.push(`${name}: FERRY_ACCOUNTS_FILE is set too; name every account there, or unset it`)
  }
  const accounts = Object.freeze(sources.map(source => accountOf(defaults, source)))
  mistakes.push(...sharedLimits(accounts))
  return { accounts, defaults, variables: entries.flatMap(({ entry }) => entry.appKeyEnv ?? []) }
}

/** None, or the account `default`. Its address is unset also if it is wrong, which has been said already. */
function defaultAccount(given: Given, settings: Environment, mistakes: string[]): Source[] {
  const { FERRY_BASE_URL: baseUrl } = settings
  const { FERRY_BASE_URL: address, FERRY_APP_KEY: key, FERRY_APP_KEY_FILE: file } = given
  if (key !== undefined && file !== undefined) {
    mistakes.push('FERRY_APP_KEY: FERRY_APP_KEY_FILE is set too; set one of them')
  }
  if (address === undefined && (key ?? file) !== undefined) {
    mistakes.push('FERRY_BASE_URL: is not set, but an app_key is; set it to the address of the platform')
  }
  if (address !== undefined && (key ?? file) === undefined) {
    mistakes.push('FERRY_APP_KEY: is not set, but FERRY_BASE_URL is; set it, or FERRY_APP_KEY_FILE')
  }
  const appKey =
    file === undefined ? keyOf(key, 'FERRY_APP_KEY', mistakes) : keyFrom(file, 'FERRY_APP_KEY_FILE', mistakes)
  checkPlainHttp(baseUrl, 'FERRY_BASE_URL: account default', settings, mistakes)
  return appKey && baseUrl !== undefined
    ? [{ name: 'default', baseUrl, baseUrlSetting: 'FERRY_BASE_URL', appKey }]
    : []
}

/** Of an entry with mistakes, the rest is checked all the same; it makes no account. */
function fromFile(
  entries: readonly ReadEntry[],
  given: Given,
  settings: Environment,
  mistakes: string[],
): Source[] {
  return entries.flatMap(({ place, entry, whole }) => {
    const setting = `FERRY_ACCOUNTS_FILE: ${entry.name === undefined ? place : `account ${entry.name}`}`
    const { appKeyEnv: variable, appKeyFile: file } = entry
    const key = variable === undefined ? undefined : given[variable]
    if (file === undefined && variable !== undefined && key === undefined) {
      mistakes.push(`${setting}: ${variable} is not set; set it to the app_key, or name another variable`)
    }
    const appKey =
      file === undefined ? keyOf(key, `${setting}: ${variable}`, mistakes) : keyFrom(file, setting, mistakes)
    checkPlainHttp(entry.baseUrl, setting, settings, mistakes)
    if (!appKey || !whole) return []
    return [{ ...entry, baseUrlSetting: `baseUrl of account ${entry.name} in FERRY_ACCOUNTS_FILE`, appKey }]
  })
}

/** A file written by an editor ends with a newline that is no part of the key. */
function keyFrom(path: string, setting: string, mistakes: string[]): Secret | null {
  const text = readText(path, setting, mistakes)?.replace(/\r?\n$/, '')
  if (text === '') mistakes.push(`${setting}: ${path} is empty; write the app_key into it`)
  return keyOf(text || undefined, setting, mistakes)
}

function keyOf(text: string | undefined, setting: string, mistakes: string[]): Secret | null {
  if (text === undefined) return null
  if (!/\s/.test(text)) return new Secret(text)
  mistakes.push(`${setting}: the app_key has white space in it; copy it again, on one line`)
  return null
}

function checkPlainHttp(
  baseUrl: string | undefined,
  setting: string,
  settings: Environment,
  mistakes: string[],
): void {
  const address = URL.parse(baseUrl ?? '')
  if (settings.FERRY_ALLOW_HTTP || address?.protocol !== 'http:' || isLoopback(address.hostname)) return
  mistakes.push(
    `${setting} would send its app_key to ${address.hostname} in plain http; ` +
      'write https:, or set FERRY_ALLOW_HTTP=1 if that network is yours',
  )
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

/** What the platform counts together must be counted together here, by the same limits. */
function sharedLimits(accounts: readonly Account[]): string[] {
  const mistakes: string[] = []
  for (const [index, account] of accounts.entries()) {
    const earlier = accounts.slice(0, index)
    const limits = limitsOf(account)
    const same = earlier.find(other => other.keyHash === account.keyHash && other.baseUrl === account.baseUrl)
    const group = earlier.find(other => other.limitGroup === account.limitGroup)
    if (same && same.limitGroup !== account.limitGroup) {
      mistakes.push(
        `FERRY_ACCOUNTS_FILE: accounts ${same.name} and ${account.name} have one app_key, so one limit; ` +
          'give both the same limitGroup',
      )
    } else if (group && limitsOf(group) !== limits) {
      mistakes.push(
        `FERRY_ACCOUNTS_FILE: accounts ${group.name} and ${account.name} share the limitGroup ` +
          `${account.limitGroup}; give both the same importLimit and listLimit`,
      )
    }
  }
  return mistakes
}

function limitsOf(account: Account): string {
  return JSON.stringify([account.importLimit, account.listLimit])
}
