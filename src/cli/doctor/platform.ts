import type { ClosedLimit } from '#src/db/closed-limits.ts'
import type { Ferry } from '#src/ferry.ts'
import { listSharedAccounts } from '#src/inventory/platform-accounts.ts'
import type { Answer } from '#src/platform/answer.ts'
import type { Operation } from '#src/platform/operations.ts'
import type { RowSink } from '#src/platform/row-sink.ts'
import { EXIT } from '../exit.ts'
import { isRefusal } from '../run-result.ts'
import { boundedThrottle, LimitNotFree } from './bounded-throttle.ts'
import type { Finding } from './finding.ts'

/** Makes one real call of each listing for each account, through the throttle like any other call. */
export async function* platformFindings(ferry: Ferry, signal: AbortSignal): AsyncGenerator<Finding> {
  const context = { runId: null, signal, throttle: boundedThrottle(ferry) }
  for (const { name, client, includeAccount, folders } of ferry.accounts.values()) {
    const checks = [
      async () => {
        const servers = await client.listMcpPage({ page: 1, limit: 1, includeAccount }, context)
        return answerFinding(name, servers, servers.ok ? `${servers.data.total} MCP servers` : '')
      },
      async () => {
        const sink = countReadable()
        const rules = await client.listAlertRules(folders[0] ?? 0n, sink, context)
        return answerFinding(name, rules, `${sink.count} alert rules`)
      },
    ]
    for (const check of checks) yield await check().catch(limitFinding)
    // An import call would subscribe people, so none is made.
    const closed = await ferry.findClosedLimit(name, 'import-subscribers')
    if (closed) yield closedFinding(name, 'import-subscribers', closed)
  }
  yield* sharedAccounts(ferry)
}

/** Counts the rows that parse. */
function countReadable(): RowSink<unknown> & { readonly count: number } {
  const sink = {
    count: 0,
    ready: async () => {},
    begin() {
      sink.count = 0
    },
    knows: () => false,
    take(row: object) {
      if ('row' in row) sink.count += 1
    },
    settle: async () => {},
  }
  return sink
}

function answerFinding(account: string, answer: Answer<unknown>, found: string): Finding {
  if (answer.ok) {
    return {
      check: 'platform',
      status: 'ok',
      found: `account ${account}: the platform lists ${found} (request_id ${answer.requestId})`,
    }
  }
  const { message, whatToDo, requestId, code, httpStatus } = answer.refusal
  return {
    check: 'platform',
    status: 'fail',
    found: `account ${account}: ${message}${requestId === null ? '' : ` (request_id ${requestId})`}`,
    whatToDo,
    exit: isRefusal(code, httpStatus) ? EXIT.refused : EXIT.failed,
  }
}

/** Turns a call that got no permit into a finding; throws any other error. */
function limitFinding(error: unknown): Finding {
  if (!(error instanceof LimitNotFree)) throw error
  const { account, operation, closed } = error
  if (closed !== null) return closedFinding(account, operation, closed)
  return {
    check: 'platform',
    status: 'warn',
    found: `account ${account}: the limit of ${operation} is in use; the platform was not asked`,
    whatToDo: 'Run this again later, when the workers of this account make fewer calls.',
  }
}

function closedFinding(account: string, operation: Operation, { until, requestId }: ClosedLimit): Finding {
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

/** Warns of accounts that are one account on the platform: it counts their calls together, Ferry does not. */
async function* sharedAccounts({ pool, config }: Ferry): AsyncGenerator<Finding> {
  const groupOf = new Map(config.accounts.map(account => [account.name, account.limitGroup]))
  for (const { accountId, names } of await listSharedAccounts(pool, [...groupOf.keys()])) {
    if (new Set(names.map(name => groupOf.get(name))).size === 1) continue
    yield {
      check: 'limits',
      status: 'warn',
      found: `${names.join(' and ')} are one account on the platform (${accountId}), which counts their calls together`,
      whatToDo: 'Give them one limitGroup in FERRY_ACCOUNTS_FILE.',
    }
  }
}
