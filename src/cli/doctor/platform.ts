import type { Pool } from 'pg'
import type { Account } from '#src/config.ts'
import type { Ferry } from '#src/ferry.ts'
import type { InventoryAccount } from '#src/inventory/context.ts'
import type { Answer } from '#src/platform/client.ts'
import type { Call, Throttle } from '#src/platform/throttle.ts'
import { type Closed, findClosed } from '#src/store/throttle.ts'
import { EXIT } from '../exit.ts'
import { isRefusal } from '../run-result.ts'
import type { Finding } from './finding.ts'

/** One real call of each listing per account, through the throttle like any other. */
export async function* platformFindings(ferry: Ferry, signal: AbortSignal): AsyncGenerator<Finding> {
  const context = { runId: null, signal, throttle: impatient(ferry) }
  for (const account of ferry.accounts.values()) {
    const { client, includeAccount, folders } = account
    const checks = [
      async () => {
        const servers = await client.listMcpPage({ page: 1, limit: 1, includeAccount }, context)
        return answerOf(account, servers, servers.ok ? `${servers.data.total} MCP servers` : '')
      },
      async () => {
        const rules = await client.listAlertRules(folders[0] ?? 0n, context)
        return answerOf(account, rules, rules.ok ? `${rules.data.listing().rows.length} alert rules` : '')
      },
    ]
    for (const check of checks) {
      yield await check().catch(error => {
        if (error instanceof LimitInUse) return error.finding
        throw error
      })
    }
    const call = { account: account.name, operation: 'import-subscribers', runId: null } as const
    const closed = await findClosed(
      ferry.pool,
      ferry.limitOf(call.account, call.operation).limitKey,
      call.operation,
    )
    if (closed) yield closedFinding(call, closed)
  }
  yield* sharedAccounts(ferry.pool, ferry.config.accounts)
}

/** How long a call may wait for others that use the same limit. */
const PERMIT_WITHIN_MS = 5_000

/** No call can be made for now, which a person should hear at once. */
class LimitInUse extends Error {
  override readonly name = 'LimitInUse'
  readonly finding: Finding
  constructor(finding: Finding) {
    super(finding.found)
    this.finding = finding
  }
}

/** The throttle, but where it would wait for long its `take` throws `LimitInUse`. */
function impatient({ throttle, pool, limitOf }: Ferry): Throttle {
  return {
    ...throttle,
    async take(call, signal) {
      const throwIfClosed = async () => {
        const closed = await findClosed(pool, limitOf(call.account, call.operation).limitKey, call.operation)
        if (closed) throw new LimitInUse(closedFinding(call, closed))
      }
      await throwIfClosed()
      const timeUp = AbortSignal.timeout(PERMIT_WITHIN_MS)
      try {
        return await throttle.take(call, AbortSignal.any([signal, timeUp]))
      } catch (error) {
        if (!timeUp.aborted || signal.aborted) throw error
        await throwIfClosed()
        throw new LimitInUse({
          check: 'platform',
          status: 'warn',
          found: `account ${call.account}: the limit of ${call.operation} is in use; the platform was not asked`,
          whatToDo: 'Run this again later, when the workers of this account make fewer calls.',
        })
      }
    },
  }
}

function closedFinding({ account, operation }: Call, { until, requestId }: Closed): Finding {
  const about = requestId === null ? '' : ` (request_id ${requestId})`
  return {
    check: 'platform',
    status: 'fail',
    found: `account ${account}: the platform answers 429; ${operation} is closed until ${until.toISOString()}${about}`,
    whatToDo:
      'Wait until then. If it stays so, another program may use the same account, or the limits of Ferry are set too high.',
    exit: EXIT.refused,
  }
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
