import type { Resource } from '#src/model/resource.ts'
import { alertRules } from './alert-rules.ts'
import type { InventoryAccount, InventoryContext } from './context.ts'
import { mcpServers } from './mcp-servers.ts'
import type { InventorySource } from './source.ts'

/** The account of this name. Throws if it is not configured. */
export function accountOf(context: InventoryContext, name: string): InventoryAccount {
  const account = context.accounts.get(name)
  if (account) return account
  throw new Error(`no account is called ${name}; there are: ${[...context.accounts.keys()].join(', ')}`)
}

/** Calls `use` with the source of an inventory; `folders` narrows alert rules, by default to those of the account. */
export function withSource<Result>(
  account: InventoryAccount,
  resource: Resource,
  folders: readonly bigint[] | undefined,
  use: <Row>(source: InventorySource<Row>) => Result,
): Result {
  return resource === 'alert-rules' ? use(alertRules(account, folders)) : use(mcpServers(account))
}
