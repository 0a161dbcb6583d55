import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { NotifySettings, Receiver } from '#src/model/settings.ts'
import type { ProxyChoice } from '#src/platform/dispatcher.ts'
import { type Caller, type CallResult, openCaller } from './caller.ts'
import { composeMessage, type Sending } from './compose.ts'
import { writeMessage } from './message.ts'
import { type Acceptances, loadDue, loadWaits, type Pending, recordResult } from './pending.ts'

export type Delivery = {
  readonly pool: Pool
  readonly log: Logger
  readonly receiver: Receiver
  readonly caller: Caller
  /** The same at each look. */
  readonly acceptances: Acceptances
  readonly publicUrl: string | null
  /** A clock that is never set, in milliseconds. */
  readonly nowMs?: () => number
}

/** How long to wait after each failure in a row; after the last one, as long as it says. */
const BACK_OFF_MS = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000]
const MAX_BACK_OFF_MS = Math.max(...BACK_OFF_MS)

const TOO_LARGE = 413

/** With these a receiver refuses one message for what is in it. Any other failure says that the receiver is not well. */
const ABOUT_THE_MESSAGE: readonly number[] = [400, TOO_LARGE, 422]

/** A look sends refused messages again for no longer than this: new ones are sent at the next look, before the others. */
const REFUSED_FOR_MS = 5_000

/**
 * Sends the pending messages of one receiver in the order in which they were written; those of a digest as one. Returns in how
 * many milliseconds it is worth looking again; Infinity if nothing waits.
 *
 * While the receiver is not well, everything waits, so that the order stays. A message that the receiver refuses for
 * itself is tried again later, after those about other subjects that are due then. A digest that is too large for it is sent
 * in halves. The caller makes sure that one worker at a time sends.
 */
export async function deliverPending(delivery: Delivery, signal: AbortSignal): Promise<number> {
  const { pool, log, receiver, caller, acceptances, publicUrl, nowMs = () => performance.now() } = delivery
  await acceptances.write()
  const isDigest = receiver.digestCron !== null
  const policy = {
    receiver: receiver.name,
    isDigest,
    aboutTheMessage: ABOUT_THE_MESSAGE,
    maxWaitMs: MAX_BACK_OFF_MS,
  }
  const { receiverMs, messageMs } = await loadWaits(pool, policy)
  if (receiverMs !== null) return receiverMs
  const startedAtMs = nowMs()
  const due = await loadDue(pool, policy)
  if (due.length === 0) return messageMs
  const giveWayAtMs = nowMs() + REFUSED_FOR_MS
  const refused = new Set<string>()
  const sendings = isDigest ? digestsOf(due) : due.map((one): Sending => [one])
  for (let sending = sendings.shift(); sending; sending = sendings.shift()) {
    const [first] = sending
    if (signal.aborted) return Number.POSITIVE_INFINITY
    // A digest does not give way: its halves would begin with the whole again.
    if (!isDigest && first.isRefused && nowMs() > giveWayAtMs) return 0
    const about = JSON.stringify([first.kind, first.account, first.subject])
    if (refused.has(about)) continue
    const sentAt = new Date(first.now.getTime() + nowMs() - startedAtMs)
    const message = composeMessage(sending, receiver, publicUrl)
    const result = await caller.call(writeMessage(message, receiver, sentAt), signal)
    // Unless it was accepted, its outcome is unknown: it is sent again, under the same id.
    if (signal.aborted && !result.ok) return Number.POSITIVE_INFINITY
    if (result.httpStatus === TOO_LARGE && sending.length > 1) {
      sendings.unshift(...halvesOf(sending))
      continue
    }
    const retryInMs = backOffOf(first.attempts)
    const events = sending.map(({ event }) => event)
    if (result.ok) await acceptances.record(events, result)
    else await recordResult(pool, receiver.name, events, result, retryInMs)
    logResult(log, receiver.name, first, result)
    if (result.ok) continue
    if (result.httpStatus === null || !ABOUT_THE_MESSAGE.includes(result.httpStatus)) return retryInMs
    refused.add(about)
  }
  // There may be more, or what waited for one of these.
  return 0
}

/** The messages of one time are one digest. */
function digestsOf(due: readonly Pending[]): Sending[] {
  const inOrder = due.toSorted((a, b) => Number(BigInt(a.event) - BigInt(b.event)))
  const digests = Object.values(Object.groupBy(inOrder, ({ due: time }) => time))
  return digests.flatMap(digest => sendingOf(digest ?? []))
}

function halvesOf(digest: Sending): Sending[] {
  const middle = Math.ceil(digest.length / 2)
  return [...sendingOf(digest.slice(0, middle)), ...sendingOf(digest.slice(middle))]
}

/** What sends these as one; nothing if there are none. */
function sendingOf([first, ...others]: readonly Pending[]): Sending[] {
  return first ? [[first, ...others]] : []
}

function backOffOf(attempts: number): number {
  return BACK_OFF_MS[attempts] ?? MAX_BACK_OFF_MS
}

/** The first failure of a message is a warning; its repetitions are not. */
function logResult(
  log: Logger,
  receiver: string,
  { event, kind, account, attempts }: Pending,
  result: CallResult,
): void {
  const about = { receiver, event, kind, account, httpStatus: result.httpStatus }
  if (result.ok) log.debug(about, `Receiver ${receiver} has accepted a message.`)
  else
    log[attempts === 0 ? 'warn' : 'debug'](
      about,
      `Receiver ${receiver} has not accepted a message: ${result.why}. Ferry keeps trying for a day.`,
    )
}

/** What a receiver answered to a test message, and its id. */
export type TestResult = CallResult & { readonly id: string }

const TEST_TYPE = 'notify.test'

/** Sends a test message to the receiver at once, outside of the outbox. */
export async function sendTest(
  settings: NotifySettings,
  receiver: Receiver,
  proxy: ProxyChoice,
  signal: AbortSignal,
): Promise<TestResult> {
  await using caller = openCaller(receiver.url, receiver.urlSetting, settings, proxy)
  const at = new Date()
  const summary = 'This is a test message from Ferry. Nothing happened.'
  const link = settings.publicUrl === null ? {} : { link: `${settings.publicUrl}/` }
  const id = `msg_${randomUUID()}`
  const message = { id, type: TEST_TYPE, at, data: { state: 'raised' as const, summary, ...link } }
  const result = await caller.call(writeMessage(message, receiver, at), signal)
  return { id, ...result }
}
