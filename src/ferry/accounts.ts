import type { Logger } from 'pino'
import type { Config } from '#src/config.ts'
import type { ImportAccount } from '#src/imports/context.ts'
import type { InventoryAccount } from '#src/inventory/context.ts'
import type { CallObserver, Operation } from '#src/model/call.ts'
import type { Limit } from '#src/model/limit.ts'
import { openPlatformClient } from '#src/platform/client.ts'
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
    const { name, baseUrl, baseUrlSetting, appKey, folders, pageLimit, includeAccount, keyHash, limitGroup } =
      account
    const client = opened.use(
      openPlatformClient({
        account: name,
        baseUrl,
        baseUrlSetting,
        appKey,
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
      keyHash,
      limitGroup,
      importLimit: limitOf(name, 'import-subscribers'),
    })
  }
  return accounts
}
