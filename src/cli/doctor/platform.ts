import type { ClosedLimit } from '#src/db/limits.ts'
import type { Ferry } from '#src/ferry.ts'
import { listSharedAccounts } from '#src/inventory/platform-accounts.ts'
import type { Call, Operation } from '#src/model/call.ts'
import { counted } from '#src/model/counted.ts'
import type { Answer } from '#src/platform/answer.ts'
import type { Listing } from '#src/platform/listing.ts'
import type { Throttle } from '#src/platform/throttle.ts'
import { EXIT } from '../exit.ts'
import { isRefusal } from '../run-result.ts'
import { ANSWER_WITHIN_MS, type Finding } from './finding.ts'

type Account = NonNullable<ReturnType<Ferry['accounts']['get']>>
type CallContext = Parameters<Account['client']['listMcpPage']>[1]

/**
 * Makes one real call of each listing for each account, once, through the throttle like any other call. All accounts are
 * asked at the same time, and none may take longer than `ANSWER_WITHIN_MS`. Calls `waitFor` with what it is waiting for.
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
  const rules = { count: 0 }
  const [ofServers, ofRules] = await Promise.all([
    ask(timeUp, async () => {
      const servers = await client.listMcpPage({ page: 1, limit: 1, includeAccount }, call)
      return answerFinding(name, servers, servers.ok ? counted(servers.data.total, 'MCP server') : '')
    }),
    ask(timeUp, async () => {
      const listing = client.listAlertRules(folders[0] ?? 0n, () => -1, call)
      const answer = await countReadable(listing, rules)
      return answerFinding(name, answer, counted(rules.count, 'alert rule'))
    }),
  ])
  // An import call would subscribe people, so none is made.
  const closed = await findClosedLimit(name, 'import-subscribers')
  const isLong = ofRules === 'silent' && rules.count > 0
  return [
    ofServers === 'silent' ? silentFinding(name, 'list-mcp-servers') : ofServers,
    isLong
      ? listsFinding(
          name,
          `at least ${counted(rules.count, 'alert rule')}; the listing did not end ${IN_TIME}`,
        )
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

/** Counts the rows that parse, and returns the answer. */
async function countReadable(listing: Listing<unknown>, rules: { count: number }): Promise<Answer<unknown>> {
  for await (const step of listing) {
    if (step.kind === 'ended') return step.answer
    if (step.kind === 'begins') rules.count = 0
    else rules.count += step.rows.filter(({ kind }) => kind === 'good').length
  }
  throw new Error('a listing has no end')
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
    found: `account ${account}: the limit of ${operation} is used up; the platform was not called`,
    whatToDo: 'Run this again later, when the workers of this account make fewer calls.',
  }
}

function closedFinding(
  account: string,
  operation: Operation,
  { until, requestId, hasRefused }: ClosedLimit,
): Finding {
  if (!hasRefused) {
    return {
      check: 'platform',
      status: 'warn',
      found: `account ${account}: no call of ${operation} is made until ${until.toISOString()}, because another database was noticed`,
      whatToDo: 'Wait until then: calls made before may be missing in this database.',
    }
  }
  const about = requestId === null ? '' : ` (request_id ${requestId})`
  return {
    check: 'platform',
    status: 'fail',
    found: `account ${account}: the platform answers 429; ${operation} is closed until ${until.toISOString()}${about}`,
    whatToDo:
      'Wait until then. If it happens again, another program may be using the same account, or the limits of Ferry may be too high.',
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
      whatToDo: 'Give them the same limitGroup in FERRY_ACCOUNTS_FILE.',
    }
  }
}

/** A call got no permit in time: the platform has closed the limit, or (`closed` is null) other calls use it up. */
export class LimitNotFree extends Error {
  override readonly name = 'LimitNotFree'
  readonly account: string
  readonly operation: Operation
  readonly closed: ClosedLimit | null
  constructor({ account, operation }: Call, closed: ClosedLimit | null) {
    super(`the limit of ${operation} is not free`)
    this.account = account
    this.operation = operation
    this.closed = closed
  }
}

/**
 * Returns Ferry's throttle, except that `acquirePermit` throws `LimitNotFree` instead of waiting for a limit that is closed,
 * or for longer than `timeUp`.
 */
export function boundedThrottle({ throttle, findClosedLimit }: Ferry, timeUp: AbortSignal): Throttle {
  return {
    ...throttle,
    async acquirePermit(call, signal) {
      const closed = await findClosedLimit(call.account, call.operation)
      if (closed !== null) throw new LimitNotFree(call, closed)
      try {
        return await throttle.acquirePermit(call, signal)
      } catch (error) {
        if (!timeUp.aborted) throw error
        throw new LimitNotFree(call, await findClosedLimit(call.account, call.operation))
      }
    },
  }
}
