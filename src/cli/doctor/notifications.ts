import type { Ferry } from '#src/ferry.ts'
import { countUndelivered, undeliveredInWords } from '#src/notify/list-events.ts'
import type { Finding } from './finding.ts'

/**
 * Looks for messages that no receiver accepted. Null if there is none, and no receiver is set here: the workers may have one.
 */
export async function checkNotifications({
  pool,
  config,
}: Pick<Ferry, 'pool' | 'config'>): Promise<Finding | null> {
  const { webhook, kinds } = config.notify
  // What was never tried waits for a receiver only if there is one.
  const found = undeliveredInWords(await countUndelivered(pool, webhook === null ? [] : kinds))
  const check = 'notifications'
  if (found !== null) {
    return {
      check,
      status: 'warn',
      found,
      whatToDo: '`ferry notify list --undelivered` says why; `ferry notify test` tries the receiver.',
    }
  }
  if (webhook === null) return null
  if (webhook.format === 'standard' && webhook.key === null) {
    return {
      check,
      status: 'warn',
      found: 'messages are sent, but not signed',
      whatToDo: 'Set FERRY_WEBHOOK_SECRET, so that the receiver can tell them from those of others.',
    }
  }
  return { check, status: 'ok', found: 'every message was accepted' }
}
