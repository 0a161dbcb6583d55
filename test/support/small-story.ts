import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { pauseSchedules } from '#src/schedules/control.ts'
import type { FerryHarness } from './ferry-harness.ts'
import { FRESHNESS_TARGET } from './freshness-target.ts'
import { letTimePass } from './let-time-pass.ts'
import { ACCEPTED, LOST, naming, sendBatches, UNAUTHORIZED } from './scripted-worker.ts'
import { stageRows } from './staged.ts'

const ADA = { updater_id: 7n, updater_name: 'Ada' }
const SAM = { actor: 'sam@laptop', because: 'the platform is upgraded' }

/**
 * A little of everything, the same each time: three rules and a server that change within a day, a run that fails and one that holds
 * removals, an import that was sent in part and one that the platform refused, and a schedule that is paused.
 */
export async function fillSmallStory({
  ferry,
  sandbox,
  sync,
}: Pick<FerryHarness, 'ferry' | 'sandbox' | 'sync'>) {
  const { pool } = ferry
  const { state } = sandbox
  const syncBoth = async () => {
    await sync()
    await sync({ resource: 'mcp-servers' })
  }
  const rule = { folder_id: 7n, enabled: true, triggered: false, labels: { team: 'payments' }, ...ADA }
  const named = ['', 'Checkout p99 latency', 'Refunds wait', 'Search shard']
  for (let id = 1n; id <= 15n; id++)
    state.addRule({ ...rule, id, name: named[Number(id)] ?? `Nightly job ${id}` })
  const tools = ['list_orders', 'refund_order'].map(name => ({ name, description: `Does ${name}.` }))
  state.addServer({ server_id: '1', server_name: 'Orders', url: 'https://mcp.example.com/orders', tools })
  await syncBoth()
  await letTimePass(pool, '1 day')
  state.changeRule(1n, { delay_seconds: 300n, updater_id: 8n, updater_name: 'Eve' })
  state.changeRule(2n, { triggered: true })
  state.removeRule(3n)
  state.changeServer('1', { tools: tools.slice(0, 1) })
  await syncBoth()
  await letTimePass(pool, '2 hours')
  state.inject({ kind: 'error', code: 'Unauthorized', message: 'The key is unknown.' })
  await sync()
  state.clearFaults()
  for (let id = 4n; id <= 15n; id++) state.removeRule(id)
  await sync()
  const sent = await stageRows(pool, { rows: 6, batchRows: 2, onUncertain: 'hold', file: 'people.csv' })
  await sendBatches(pool, sent, [naming('p3@example.com'), ACCEPTED, LOST])
  const refused = await stageRows(pool, { rows: 4, batchRows: 2, pageId: 99n, file: 'others.csv' })
  await sendBatches(pool, refused, [ACCEPTED, UNAUTHORIZED])
  await pauseSchedules(pool, [{ schedule: 'snapshot-inventory', account: 'default' }], SAM)
  await saveFreshnessTargets(pool, [
    FRESHNESS_TARGET,
    { ...FRESHNESS_TARGET, resource: 'mcp-servers', folders: null },
  ])
  // What is said in seconds would differ from one moment to the next.
  await letTimePass(pool, '3 hours 7 minutes')
}
