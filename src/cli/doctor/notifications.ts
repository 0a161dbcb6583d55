import type { Ferry } from '#src/ferry.ts'
import { countUndelivered } from '#src/notify/list-events.ts'
import { counted } from '../output.ts'
import type { Finding } from './finding.ts'

/** Looks for messages that no receiver accepted. Null if no receiver is set: then nothing is expected. */
export async function checkNotifications({
  pool,
  config,
}: Pick<Ferry, 'pool' | 'config'>): Promise<Finding | null> {
  const { webhook } = config.notify
  if (webhook === null) return null
  const { dead, waiting } = await countUndelivered(pool)
  const check = 'notifications'
  if (dead > 0 || waiting > 0) {
    return {
      check,
      status: 'warn',
      found: [
        dead > 0 && `${counted(dead, 'message')} ${dead === 1 ? 'was' : 'were'} not accepted within a day`,
        waiting > 0 && `${counted(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'} to be sent again`,
      ]
        .filter(Boolean)
        .join('; '),
      whatToDo: '`ferry notify list --undelivered` says why; `ferry notify test` tries the receiver.',
    }
  }
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
