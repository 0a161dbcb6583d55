import type { Logger } from 'pino'
import type { Account, Config } from '#src/config.ts'
import type { ImportAccount } from '#src/imports/context.ts'
import type { InventoryAccount } from '#src/inventory/context.ts'
import type { CallObserver, Operation } from '#src/model/call.ts'
import type { Limit, LimitWindow } from '#src/model/limit.ts'
import { openPlatformClient } from '#src/platform/client.ts'
import { OPERATIONS } from '#src/platform/operations.ts'
import type { Throttle } from '#src/platform/throttle.ts'

/** One configured account with its client, as the rooms of inventories and imports need it. */
export type FerryAccount = InventoryAccount & ImportAccount

/** Opens a client for each configured account, and returns the accounts by name. `opened` closes the clients. */
export function openAccounts(
  config: Config,
  context: {
    readonly throttle: Throttle
    readonly limitOf: (account: string, operation: Operation) => Limit
    readonly log: Logger
    readonly observer?: CallObserver | undefined
  },
  opened: AsyncDisposableStack,
): ReadonlyMap<string, FerryAccount> {
  const { throttle, limitOf, log, observer } = context
  const accounts = new Map<string, FerryAccount>()
  for (const account of config.accounts) {
    const { name, folders, pageLimit, includeAccount, limitGroup } = account
    const client = opened.use(
      openPlatformClient({
        ...account,
        account: name,
        requestTimeoutMs: config.requestTimeoutMs,
        proxy: config.proxy,
        throttle,
        log,
        observer,
      }),
    )
    accounts.set(name, {
      name,
      client,
      folders,
      pageLimit,
      includeAccount,
      get keyHash() {
        return account.keyHash
      },
      limitGroup,
      importLimit: limitOf(name, 'import-subscribers'),
    })
  }
  return accounts
}

/**
 * Returns a function that gives the limit of an account's operation: the key under which the platform counts the calls,
 * and how many it allows.
 *
 * Operations counted per account: accounts of one `limitGroup` share a key. The others are counted per app_key according
 * to the contract, and per account according to some hints. So there, accounts share a key if they have an app_key or a
 * `limitGroup` in common, directly or through others, and each is held to the lowest limit of them. Whichever is true, the
 * limit is never exceeded.
 */
export function limitsOf(accounts: readonly Account[]): (name: string, operation: Operation) => Limit {
  const byName = new Map(accounts.map(account => [account.name, account]))
  const sharedKeyOf = sharedKeys(accounts)
  const keyOf = ({ name, limitGroup }: Account, operation: Operation) =>
    OPERATIONS[operation].countedPer === 'app_key' ? `key:${sharedKeyOf.get(name)}` : `account:${limitGroup}`
  return (name, operation) => {
    const account = byName.get(name)
    if (!account) throw new Error(`no account is called ${name}`)
    const limitKey = keyOf(account, operation)
    const sharing = accounts.filter(other => keyOf(other, operation) === limitKey)
    return {
      limitKey,
      windows: narrowest(
        sharing.map(one => (operation === 'import-subscribers' ? one.importLimit : one.listLimit)),
      ),
      accounts: sharing.map(other => other.name),
    }
  }
}

/** What all of these limits allow. */
function narrowest(limits: readonly (readonly LimitWindow[])[]): LimitWindow[] {
  const least = new Map<number, number>()
  for (const { maxCalls, windowMs } of limits.flat()) {
    least.set(windowMs, Math.min(maxCalls, least.get(windowMs) ?? maxCalls))
  }
  return [...least].map(([windowMs, maxCalls]) => ({ maxCalls, windowMs }))
}

/**
 * Returns for each account the least limitGroup among the accounts that share its key. No key is in its name: the calls that a
 * key has made still count after it was rotated. An account that shares nothing has its own group, so every process that knows
 * only this account uses the same.
 */
function sharedKeys(accounts: readonly Account[]): ReadonlyMap<string, string> {
  const least = new Map(accounts.map(({ name, limitGroup }) => [name, limitGroup]))
  const groupOf = ({ name, limitGroup }: Account) => least.get(name) ?? limitGroup
  for (let settled = false; !settled; ) {
    settled = true
    for (const one of accounts) {
      for (const other of accounts) {
        const areOne = one.limitGroup === other.limitGroup || one.keyHash === other.keyHash
        if (!areOne || groupOf(other) >= groupOf(one)) continue
        least.set(one.name, groupOf(other))
        settled = false
      }
    }
  }
  return least
}
