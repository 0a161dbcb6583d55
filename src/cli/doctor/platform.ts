import type { ClosedLimit } from '#src/db/closed-limits.ts'
import type { Ferry } from '#src/ferry.ts'
import { listSharedAccounts } from '#src/inventory/platform-accounts.ts'
import type { Answer } from '#src/platform/answer.ts'
import type { Operation } from '#src/platform/operations.ts'
import type { RowSink } from '#src/platform/row-sink.ts'
import { EXIT } from '../exit.ts'
import { isRefusal } from '../run-result.ts'
import { ANSWER_WITHIN_MS } from './bound.ts'
import { boundedThrottle, LimitNotFree } from './bounded-throttle.ts'
import type { Finding } from './finding.ts'

type Account = NonNullable<ReturnType<Ferry['accounts']['get']>>
type CallContext = Parameters<Account['client']['listMcpPage']>[1]

/**
 * Makes one real call of each listing for each account, once, through the throttle like any other call. All accounts are
 * asked at the same time, and none is waited for longer than doctor waits. `waitFor` is told what is being waited for.
 */
export async function* platformFindings(
  ferry: Ferry,
  signal: AbortSignal,
  waitFor: (what: string) => void,
): AsyncGenerator<Finding> {
  const timeUp = AbortSignal.timeout(ANSWER_WITHIN_MS)
  const call = {
    runId: null,
    signal: AbortSignal.any([signal, timeUp]),
    throttle: boundedThrottle(ferry, timeUp),
    maxAttempts: 1,
  }
  const silent = new Set(ferry.accounts.keys())
  const asked = [...ferry.accounts.values()].map(async account => {
    const findings = await accountFindings(ferry, account, call, timeUp)
    silent.delete(account.name)
    waitFor(`the platform: ${[...silent].join(', ')}`)
    return findings
  })
  waitFor(`the platform: ${[...silent].join(', ')}`)
  // Each is awaited in its turn; one that fails before must not end the process.
  for (const one of asked) one.catch(() => {})
  for (const one of asked) yield* await one
  yield* sharedAccounts(ferry)
}

async function accountFindings(
  { findClosedLimit }: Ferry,
  { name, client, includeAccount, folders }: Account,
  call: CallContext,
  timeUp: AbortSignal,
): Promise<Finding[]> {
  const rules = countReadable()
  const [ofServers, ofRules] = await Promise.all([
    ask(timeUp, async () => {
      const servers = await client.listMcpPage({ page: 1, limit: 1, includeAccount }, call)
      return answerFinding(name, servers, servers.ok ? `${servers.data.total} MCP servers` : '')
    }),
    ask(timeUp, async () => {
      const answer = await client.listAlertRules(folders[0] ?? 0n, rules, call)
      return answerFinding(name, answer, `${rules.count} alert rules`)
    }),
  ])
  // An import call would subscribe people, so none is made.
  const closed = await findClosedLimit(name, 'import-subscribers')
  const isLong = ofRules === 'silent' && rules.count > 0
  return [
    ofServers === 'silent' ? silentFinding(name, 'list-mcp-servers') : ofServers,
    isLong
      ? listsFinding(name, `${rules.count} alert rules and more: the listing did not end ${IN_TIME}`)
      : ofRules === 'silent'
        ? silentFinding(name, 'list-alert-rules')
        : ofRules,
    ...(closed ? [closedFinding(name, 'import-subscribers', closed)] : []),
  ]
}

/** Makes a call. A limit that is not free is a finding; any other error is thrown. */
async function ask(timeUp: AbortSignal, call: () => Promise<Finding>): Promise<Finding | 'silent'> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof LimitNotFree) return limitFinding(error)
    if (error !== timeUp.reason) throw error
    return 'silent'
  }
}

const IN_TIME = `within ${ANSWER_WITHIN_MS / 1_000} s`

function silentFinding(account: string, operation: Operation): Finding {
  return {
    check: 'platform',
    status: 'fail',
    found: `account ${account}: the platform did not answer ${operation} ${IN_TIME}`,
    whatToDo:
      'Check its address (FERRY_BASE_URL, or baseUrl in FERRY_ACCOUNTS_FILE), the network and the proxy. Doctor tries ' +
      'once; workers wait for FERRY_REQUEST_TIMEOUT and try three times.',
  }
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
  if (answer.ok) return listsFinding(account, `${found} (request_id ${answer.requestId})`)
  const { message, whatToDo, requestId, code, httpStatus } = answer.refusal
  return {
    check: 'platform',
    status: 'fail',
    found: `account ${account}: ${message}${requestId === null ? '' : ` (request_id ${requestId})`}`,
    whatToDo,
    exit: isRefusal(code, httpStatus) ? EXIT.refused : EXIT.failed,
  }
}

function listsFinding(account: string, what: string): Finding {
  return { check: 'platform', status: 'ok', found: `account ${account}: the platform lists ${what}` }
}

function limitFinding({ account, operation, closed }: LimitNotFree): Finding {
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
