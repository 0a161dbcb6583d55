import { guardedMs } from '../model/limit.ts'
import type { Retention } from '../model/retention.ts'
import type { Account } from './accounts.ts'
import type { Environment } from './settings.ts'

export function readRetention(settings: Environment): Retention {
  return {
    versionsMs: settings.FERRY_KEEP_VERSIONS,
    callsMs: settings.FERRY_KEEP_CALLS,
    runsMs: settings.FERRY_KEEP_RUNS,
    quarantineMs: settings.FERRY_KEEP_QUARANTINE,
    recipientsMs: settings.FERRY_KEEP_RECIPIENTS,
    notificationsMs: settings.FERRY_KEEP_NOTIFICATIONS,
  }
}

/** A limit counts the calls of its window, by the database's clock, so they must be kept for longer. */
export function forgottenCalls({ callsMs }: Retention, accounts: readonly Account[]): string[] {
  const windows = accounts.flatMap(account => [...account.importLimit, ...account.listLimit])
  if (callsMs === null || windows.every(({ windowMs }) => guardedMs(windowMs) < callsMs)) return []
  return ['FERRY_KEEP_CALLS: a limit counts calls over a longer window; write more days, or forever']
}
