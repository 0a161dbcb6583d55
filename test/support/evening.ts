import { syncInventory } from '#src/inventory/sync.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { letTimePass } from './let-time-pass.ts'
import type { Days } from './working-days.ts'

/*
 * The evening of docs/evening.md, poll by poll: what changed before an alert fired, who switched it off, and the minutes in which the
 * platform refused to list anything. Only the time between polls is not waited for.
 */

const CHECKOUT = 9_001n
const NEVER = new AbortController().signal

/** Fills the history with an hour and a half of polls, a minute apart. Returns how many minutes ago the alert was switched off. */
export async function fillEvening({ ferry, sandbox, account = 'default' }: Days): Promise<number> {
  const { pool } = ferry
  const { state } = sandbox
  const sync = (resource: 'alert-rules' | 'mcp-servers' = 'alert-rules') =>
    syncInventory(ferry, { account, resource, trigger: 'schedule' }, NEVER)
  const minutes = async (count: number) => {
    for (let minute = 0; minute < count; minute++) {
      await letTimePass(pool, '1 minute')
      await sync()
    }
  }
  await saveFreshnessTargets(
    pool,
    (['alert-rules', 'mcp-servers'] as const).map(resource => ({
      account,
      resource,
      targetMs: resource === 'alert-rules' ? 180_000 : 90_000_000,
      nightMs: 90_000_000,
      schedule: 'poll-alert-rules',
      timezone: 'UTC',
      weekdays: null,
      folders: resource === 'alert-rules' ? ['0'] : null,
      runsKeptMs: null,
    })),
  )
  const labels = { team: 'payments', service: 'checkout' }
  const checkout = { name: 'Checkout p99 latency', folder_id: 7n, labels, enabled: true, triggered: false }
  state.addRule({ id: CHECKOUT, ...checkout, updater_name: 'Ada', delay_seconds: 60n })
  for (const id of state.rules.ids()) state.changeRule(id, { triggered: false })
  await sync('mcp-servers')
  await sync()
  await minutes(20)
  state.changeRule(CHECKOUT, { delay_seconds: 0n, updater_name: 'Ada' })
  await minutes(4)
  state.changeRule(CHECKOUT, { triggered: true })
  await minutes(7)
  state.changeRule(CHECKOUT, { enabled: false, updater_name: 'Eve' })
  await minutes(3)
  state.inject({ kind: 'error', code: 'Unauthorized' })
  await minutes(16)
  state.clearFaults()
  state.changeRule(CHECKOUT, { enabled: true, updater_name: 'Ada' })
  await minutes(9)
  state.changeRule(CHECKOUT, { triggered: false })
  await minutes(5)
  return 32
}
