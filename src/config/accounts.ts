import { createHash } from 'node:crypto'
import type { LimitWindow } from '../model/limit.ts'
import type { Secret } from '../model/secret.ts'
import { type ReadEntry, readAccountsFile } from './accounts-file.ts'
import { plainHttpMistake } from './plain-http.ts'
import { type Found, readSecretFile, readSettingOrFile, secretOf, shownVariable } from './setting-or-file.ts'
import type { Environment } from './settings.ts'

export type AccountDefaults = {
  /** The folders whose alert rules are synced. 0 means all folders that the key can view. */
  readonly folders: readonly bigint[]
  readonly pageLimit: number
  readonly includeAccount: boolean
  readonly importLimit: readonly LimitWindow[]
  readonly listLimit: readonly LimitWindow[]
}

export type Account = AccountDefaults & {
  readonly name: string
  /** Without a slash at the end. May have a path. */
  readonly baseUrl: string
  /** The setting that holds the address, for messages. */
  readonly baseUrlSetting: string
  readonly appKey: Secret
  /** Where the key is set: a setting, an environment variable or a file. */
  readonly keySetting: string
  /** A hash of the key, to tell whether two keys are the same. */
  readonly keyHash: string
  /** The platform counts the calls of one group together. The account's own name by default. */
  readonly limitGroup: string
}

type Given = Readonly<Record<string, string>>
type Source = Pick<Account, 'name' | 'baseUrl' | 'baseUrlSetting' | 'appKey' | 'keySetting'> & {
  readonly limitGroup?: string | undefined
} & {
  readonly [Key in keyof AccountDefaults]?: AccountDefaults[Key] | undefined
}

/** Returns an account, with defaults for what `source` leaves out. */
export function accountOf(defaults: AccountDefaults, source: Source): Account {
  return Object.freeze({
    name: source.name,
    baseUrl: source.baseUrl,
    baseUrlSetting: source.baseUrlSetting,
    appKey: source.appKey,
    keySetting: source.keySetting,
    // A key may be rotated.
    get keyHash() {
      // 64 bits are enough to tell keys apart.
      return createHash('sha256').update(source.appKey.reveal()).digest('hex').slice(0, 16)
    },
    limitGroup: source.limitGroup ?? source.name,
    folders: source.folders ?? defaults.folders,
    pageLimit: source.pageLimit ?? defaults.pageLimit,
    includeAccount: source.includeAccount ?? defaults.includeAccount,
    importLimit: source.importLimit ?? defaults.importLimit,
    listLimit: source.listLimit ?? defaults.listLimit,
  })
}

/**
 * Reads the account of the environment, or those of the accounts file. Adds mistakes to `mistakes`. `variables` are the
 * environment variables that the file refers to.
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

/** Returns no account or the account `default`. A wrong address is unset in `settings`, and was reported already. */
function defaultAccount(given: Given, settings: Environment, mistakes: string[]): Source[] {
  const { FERRY_BASE_URL: baseUrl } = settings
  const { FERRY_BASE_URL: address, FERRY_APP_KEY: key, FERRY_APP_KEY_FILE: file } = given
  if (address === undefined && (key ?? file) !== undefined) {
    mistakes.push('FERRY_BASE_URL: is not set, but an app_key is; set it to the address of the platform')
  }
  if (address !== undefined && (key ?? file) === undefined) {
    mistakes.push('FERRY_APP_KEY: is not set, but FERRY_BASE_URL is; set it, or FERRY_APP_KEY_FILE')
  }
  const appKey = keyOf(readSettingOrFile('FERRY_APP_KEY', settings, mistakes), mistakes)
  const plainHttp = plainHttpMistake(baseUrl, 'FERRY_BASE_URL: account default', 'its app_key', settings)
  if (plainHttp !== null) mistakes.push(plainHttp)
  return appKey && baseUrl !== undefined
    ? [
        {
          name: 'default',
          baseUrl,
          baseUrlSetting: 'FERRY_BASE_URL',
          appKey,
          keySetting: file ?? 'FERRY_APP_KEY',
        },
      ]
    : []
}

/** Returns the accounts of the file. An entry with mistakes is checked further, but gives no account. */
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
      const shown = shownVariable(variable, 'appKeyEnv')
      mistakes.push(`${setting}: ${shown} is not set; set it to the app_key, or name another variable`)
    }
    const appKey =
      file === undefined
        ? keyOf(key === undefined ? null : { text: key, where: `${setting}: ${variable}:` }, mistakes)
        : keyOf(readSecretFile(file, setting, mistakes), mistakes)
    const plainHttp = plainHttpMistake(entry.baseUrl, setting, 'its app_key', settings)
    if (plainHttp !== null) mistakes.push(plainHttp)
    if (!appKey || !whole) return []
    const keySetting = file ?? variable ?? 'its app_key'
    return [
      {
        ...entry,
        baseUrlSetting: `baseUrl of account ${entry.name} in FERRY_ACCOUNTS_FILE`,
        appKey,
        keySetting,
      },
    ]
  })
}

/** Returns the text if it is an app_key, else null. */
function isKey(text: string): string | null {
  return text === '' || /\s/.test(text) ? null : text
}

function keyOf(found: Found | null, mistakes: string[]): Secret | null {
  if (found === null) return null
  const { text, where } = found
  if (text === '') mistakes.push(`${where} is empty; write the app_key into it`)
  else if (/\s/.test(text))
    mistakes.push(`${where} the app_key contains white space; copy it again, on one line`)
  else return secretOf(found, text, isKey)
  return null
}

/** Whether two addresses are one: `https://API.example.com:443/` and `https://api.example.com`. */
function isSameAddress(a: string, b: string): boolean {
  return new URL(a).href === new URL(b).href
}

/** Checks that accounts which the platform counts together share a limitGroup, and that a group has one limit. */
function sharedLimits(accounts: readonly Account[]): string[] {
  const mistakes: string[] = []
  for (const [index, account] of accounts.entries()) {
    const earlier = accounts.slice(0, index)
    const limits = limitsOf(account)
    const same = earlier.find(
      other => other.keyHash === account.keyHash && isSameAddress(other.baseUrl, account.baseUrl),
    )
    const group = earlier.find(other => other.limitGroup === account.limitGroup)
    if (same && same.limitGroup !== account.limitGroup) {
      mistakes.push(
        `FERRY_ACCOUNTS_FILE: accounts ${same.name} and ${account.name} use the same app_key, so they share a limit; ` +
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
