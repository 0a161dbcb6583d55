import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { findAll, findColumn } from '#src/db/rows.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'
import type { Integer } from '#src/model/fields.ts'
import type { InventoryContext } from './context.ts'

/**
 * Warns once if two accounts of Ferry turn out to be one account of the platform. The platform counts their calls
 * together, and Ferry does so only for accounts of one `limitGroup`.
 */
export async function reportSharedAccounts(
  { accounts, log }: Pick<InventoryContext, 'accounts' | 'log'>,
  client: PoolClient,
  step: RunStep,
  accountIds: ReadonlySet<Integer>,
): Promise<void> {
  const groupOf = (name: string) => accounts.get(name)?.limitGroup
  const sharing = await savePlatformAccounts(client, step, [...accountIds])
  // An account that is no longer configured makes no calls.
  const others = sharing.filter(name => accounts.has(name) && groupOf(name) !== groupOf(step.account))
  if (others.length > 0) {
    log.warn(
      { account: step.account, others },
      'These accounts see the same account of the platform, which limits them together. Give them one limitGroup.',
    )
  }
}

/**
 * Records which accounts of the platform an account of Ferry sees. Returns the other accounts of Ferry that see one of
 * the newly recorded ones too.
 */
async function savePlatformAccounts(
  client: PoolClient,
  run: RunStep,
  accountIds: readonly Integer[],
): Promise<readonly string[]> {
  if (accountIds.length === 0) return []
  return findColumn(
    client,
    z.string(),
    `with found as (
       insert into ferry.platform_accounts (account, account_id, first_run)
       select $1, id, $2 from unnest($3::numeric[]) as id
       on conflict do nothing returning account_id
     )
     select distinct p.account from ferry.platform_accounts p join found using (account_id) where p.account <> $1`,
    [run.account, run.runId, accountIds.map(String)],
  )
}

/** Accounts of Ferry that are one account of the platform. */
const SharedAccount = z.object({ accountId: z.string(), names: z.array(z.string()) })
export type SharedAccount = Readonly<z.infer<typeof SharedAccount>>

/** Lists the accounts among `names` in whose listings the same `account_id` was seen. */
export function listSharedAccounts(pool: Pool, names: readonly string[]): Promise<SharedAccount[]> {
  return findAll(
    pool,
    SharedAccount,
    `select account_id::text, array_agg(account order by account) as names
     from ferry.platform_accounts where account = any ($1) group by account_id having count(*) > 1`,
    [names],
  )
}
