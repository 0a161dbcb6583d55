import type { Pool } from 'pg'
import type { Account } from '#src/config.ts'
import type { Ferry } from '#src/ferry.ts'
import type { InventoryAccount } from '#src/inventory/context.ts'
import type { Answer } from '#src/platform/client.ts'
import { EXIT } from '../exit.ts'
import { isRefusal } from '../run-result.ts'
import type { Finding } from './finding.ts'

/** One real call of each listing per account, through the throttle like any other. */
export async function* platformFindings(ferry: Ferry, signal: AbortSignal): AsyncGenerator<Finding> {
  const context = { runId: null, signal }
  for (const account of ferry.accounts.values()) {
    const { client, includeAccount, folders } = account
    const servers = await client.listMcpPage({ page: 1, limit: 1, includeAccount }, context)
    yield answerOf(account, servers, servers.ok ? `${servers.data.total} MCP servers` : '')
    const rules = await client.listAlertRules(folders[0] ?? 0n, context)
    yield answerOf(account, rules, rules.ok ? `${rules.data.listing().rows.length} alert rules` : '')
  }
  yield* sharedAccounts(ferry.pool, ferry.config.accounts)
}

function answerOf({ name }: InventoryAccount, answer: Answer<unknown>, found: string): Finding {
  if (answer.ok) {
    const told = `account ${name}: the platform lists ${found} (request_id ${answer.requestId})`
    return { check: 'platform', status: 'ok', found: told }
  }
  const { message, whatToDo, requestId, code, httpStatus } = answer.refusal
  return {
    check: 'platform',
    status: 'fail',
    found: `account ${name}: ${message}${requestId === null ? '' : ` (request_id ${requestId})`}`,
    whatToDo,
    exit: isRefusal(code, httpStatus) ? EXIT.refused : EXIT.failed,
  }
}

/** Accounts here that turned out to be one account there: the platform counts their calls together, Ferry does not. */
async function* sharedAccounts(pool: Pool, accounts: readonly Account[]): AsyncGenerator<Finding> {
  const { rows } = await pool.query<{ account_id: string; names: string[] }>(
    `select account_id::text, array_agg(account order by account) as names from ferry.platform_accounts
     where account = any ($1) group by account_id having count(*) > 1`,
    [accounts.map(account => account.name)],
  )
  const groupOf = new Map(accounts.map(account => [account.name, account.limitGroup]))
  for (const { account_id, names } of rows) {
    if (new Set(names.map(name => groupOf.get(name))).size === 1) continue
    yield {
      check: 'limits',
      status: 'warn',
      found: `${names.join(' and ')} are one account on the platform (${account_id}), which counts their calls together`,
      whatToDo: 'Give them one limitGroup in FERRY_ACCOUNTS_FILE.',
    }
  }
}
