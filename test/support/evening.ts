import { syncInventory } from '#src/inventory/sync.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { letTimePass } from './let-time-pass.ts'
import type { Days } from './working-days.ts'

/*
 * The evening of docs/evening.md, poll by poll: what changed before an alert fired, who switched it off, what was removed and
 * edited, and the minutes in which the platform refused the key. Only the time between polls is not waited for.
 */

const CHECKOUT = 9_001n
const REFUNDS = 9_002n
const SEARCH = [9_003n, 9_004n, 9_005n, 9_006n]
const ADA = { updater_id: 7n, updater_name: 'Ada' }
const EVE = { updater_id: 8n, updater_name: 'Eve' }
const MEI = { updater_id: 9n, updater_name: 'Mei' }
const NEVER = new AbortController().signal

export type Evening = Days & {
  /** Called after each poll, a minute after the one before. */
  readonly afterPoll?: () => Promise<void>
  /** Called while the key is refused, and once it is accepted again. */
  readonly whileRefused?: () => Promise<void>
  readonly afterwards?: () => Promise<void>
}

/** Fills the history with an hour and a half of polls, a minute apart. Returns how many minutes ago the alert was switched off. */
export async function fillEvening(evening: Evening): Promise<number> {
  const { ferry, sandbox, account = 'default', afterPoll, whileRefused, afterwards } = evening
  const { pool } = ferry
  const { state } = sandbox
  const sync = (resource: 'alert-rules' | 'mcp-servers' = 'alert-rules') =>
    syncInventory(ferry, { account, resource, trigger: 'schedule' }, NEVER)
  let ago = 0
  const minutes = async (count: number) => {
    for (let minute = 0; minute < count; minute++) {
      await letTimePass(pool, '1 minute')
      ago++
      await sync()
      await afterPoll?.()
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
      keySetting: 'FERRY_APP_KEY',
    })),
  )
  const rule = { folder_id: 7n, enabled: true, triggered: false, ...ADA, delay_seconds: 60n }
  const payments = { team: 'payments', severity: 'critical' }
  state.addRule({
    ...rule,
    id: CHECKOUT,
    name: 'Checkout p99 latency',
    labels: { ...payments, service: 'checkout' },
  })
  state.addRule({ ...rule, id: REFUNDS, name: 'Refunds wait', labels: { ...payments, service: 'refunds' } })
  for (const id of SEARCH)
    state.addRule({ ...rule, id, name: `Search shard ${id}`, labels: { team: 'search' } })
  for (const id of state.rules.ids()) state.changeRule(id, { triggered: false })
  await sync('mcp-servers')
  await sync()
  await minutes(20)
  state.changeRule(CHECKOUT, { delay_seconds: 0n, ...ADA })
  await minutes(4)
  state.changeRule(CHECKOUT, { triggered: true })
  await minutes(7)
  state.changeRule(CHECKOUT, { enabled: false, ...EVE })
  ago = 0
  await minutes(2)
  state.removeRule(REFUNDS)
  for (const id of SEARCH) state.changeRule(id, { delay_seconds: 300n, ...MEI })
  await minutes(1)
  state.inject({ kind: 'error', code: 'Unauthorized' })
  await minutes(8)
  await whileRefused?.()
  await minutes(8)
  state.clearFaults()
  state.changeRule(CHECKOUT, { enabled: true, ...ADA })
  await minutes(1)
  await afterwards?.()
  await minutes(8)
  state.changeRule(CHECKOUT, { triggered: false })
  await minutes(5)
  return ago - 1
}
