import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { EventKind } from '#src/model/event.ts'
import type { NotifySettings, Webhook } from '#src/model/settings.ts'
import type { ProxyChoice } from '#src/platform/dispatcher.ts'
import { type Caller, type CallResult, openCaller } from './caller.ts'
import { type Message, plainData, sentenceOf, writeMessage } from './message.ts'
import { loadDue, loadWaits, type Pending, recordResult } from './pending.ts'

export type Delivery = {
  readonly pool: Pool
  readonly log: Logger
  readonly webhook: Webhook
  readonly caller: Caller
  readonly kinds: readonly EventKind[]
  /** A clock that is never set, in milliseconds. */
  readonly nowMs?: () => number
}

/** How long to wait after each failure in a row; after the last one, as long as it says. */
const BACK_OFF_MS = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000]
const MAX_BACK_OFF_MS = Math.max(...BACK_OFF_MS)

/** With these a receiver refuses one message for what is in it. Any other failure says that the receiver is not well. */
const ABOUT_THE_MESSAGE: readonly number[] = [400, 413, 422]

/** A look sends refused messages again for no longer than this: new ones are sent at the next look, before the others. */
const REFUSED_FOR_MS = 5_000

/**
 * Sends the pending messages in the order in which they were written. Returns in how many milliseconds it is worth looking
 * again; Infinity if nothing waits.
 *
 * While the receiver is not well, everything waits, so that the order stays. A message that the receiver refuses for
 * itself is tried again later, after those about other subjects that are due then. The caller makes sure that one worker at
 * a time sends.
 */
export async function deliverPending(delivery: Delivery, signal: AbortSignal): Promise<number> {
  const { pool, log, webhook, caller, kinds, nowMs = () => performance.now() } = delivery
  const policy = { kinds, aboutTheMessage: ABOUT_THE_MESSAGE, maxWaitMs: MAX_BACK_OFF_MS }
  const { receiverMs, messageMs } = await loadWaits(pool, policy)
  if (receiverMs !== null) return receiverMs
  const startedAtMs = nowMs()
  const due = await loadDue(pool, policy)
  if (due.length === 0) return messageMs
  const giveWayAtMs = nowMs() + REFUSED_FOR_MS
  const refused = new Set<string>()
  for (const one of due) {
    if (signal.aborted) return Number.POSITIVE_INFINITY
    if (one.isRefused && nowMs() > giveWayAtMs) return 0
    const about = JSON.stringify([one.kind, one.account, one.subject])
    if (refused.has(about)) continue
    const sentAt = new Date(one.now.getTime() + nowMs() - startedAtMs)
    const result = await caller.call(writeMessage(messageOf(one), webhook, sentAt), signal)
    // Its outcome is unknown: it is sent again, under the same id.
    if (signal.aborted) return Number.POSITIVE_INFINITY
    const retryInMs = backOffOf(one.attempts)
    await recordResult(pool, one.id, result, retryInMs)
    logResult(log, one, result)
    if (result.ok) continue
    if (result.httpStatus === null || !ABOUT_THE_MESSAGE.includes(result.httpStatus)) return retryInMs
    refused.add(about)
  }
  // There may be more, or what waited for one of these.
  return 0
}

function backOffOf(attempts: number): number {
  return BACK_OFF_MS[attempts] ?? MAX_BACK_OFF_MS
}

function messageOf({ messageId, kind, state, at, account, data: stored }: Pending): Message {
  const data = plainData(stored)
  const sentence = sentenceOf({ kind, state, account, data })
  return { id: `msg_${messageId}`, type: kind, state, at, account, data, sentence }
}

/** The first failure of a message is a warning; its repetitions are not. */
function logResult(log: Logger, { id, kind, account, attempts }: Pending, result: CallResult): void {
  const about = { event: id, kind, account, httpStatus: result.httpStatus }
  if (result.ok) log.debug(about, 'The receiver of events has accepted a message.')
  else
    log[attempts === 0 ? 'warn' : 'debug'](
      about,
      `The receiver of events has not accepted a message: ${result.why}. Ferry keeps trying for a day.`,
    )
}

const TEST_TYPE = 'notify.test'

/** Sends a test message to the receiver at once, outside of the outbox. Returns its id, and what the receiver answered. */
export async function sendTest(
  settings: NotifySettings,
  webhook: NonNullable<NotifySettings['webhook']>,
  proxy: ProxyChoice,
  signal: AbortSignal,
): Promise<CallResult & { readonly id: string }> {
  await using caller = openCaller(webhook.url, 'FERRY_WEBHOOK_URL', settings, proxy)
  const at = new Date()
  const sentence = 'This is a test message from Ferry. Nothing happened.'
  const message = { type: TEST_TYPE, state: 'raised', at, account: null, data: {}, sentence } as const
  const id = `msg_${randomUUID()}`
  const result = await caller.call(writeMessage({ id, ...message }, webhook, at), signal)
  return { id, ...result }
}
