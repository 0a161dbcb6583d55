import type { Account } from '#src/config.ts'
import { OPERATIONS, type Operation } from '#src/platform/operations.ts'
import type { Limit } from '#src/store/throttle.ts'

/**
 * Returns what the platform counts an account's calls of an operation under, and how many it allows.
 *
 * Some operations are counted by account: accounts of one `limitGroup` count as one. The others are counted by app_key,
 * says the contract; by account, some hints say. So accounts count as one there if they have a key or a `limitGroup` in
 * common, directly or through others: whichever is true, there are never too many.
 */
export function limitsOf(accounts: readonly Account[]): (name: string, operation: Operation) => Limit {
  const byName = new Map(accounts.map(account => [account.name, account]))
  const keyOf = sharedKeys(accounts)
  return (name, operation) => {
    const account = byName.get(name)
    if (!account) throw new Error(`no account is called ${name}`)
    return {
      limitKey:
        OPERATIONS[operation].countedPer === 'app_key'
          ? `key:${keyOf.get(name)}`
          : `account:${account.limitGroup}`,
      windows: operation === 'import-subscribers' ? account.importLimit : account.listLimit,
    }
  }
}

/**
 * The least hash of a key among the accounts that count as one with each: its own for an account that shares nothing,
 * as for any process that knows this account only.
 */
function sharedKeys(accounts: readonly Account[]): ReadonlyMap<string, string> {
  const least = new Map(accounts.map(({ name, keyHash }) => [name, keyHash]))
  const hashOf = ({ name, keyHash }: Account) => least.get(name) ?? keyHash
  for (let settled = false; !settled; ) {
    settled = true
    for (const one of accounts) {
      for (const other of accounts) {
        const areOne = one.limitGroup === other.limitGroup || one.keyHash === other.keyHash
        if (!areOne || hashOf(other) >= hashOf(one)) continue
        least.set(one.name, hashOf(other))
        settled = false
      }
    }
  }
  return least
}
