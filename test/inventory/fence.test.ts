import { expect, test } from 'vitest'
import { startRun } from '#src/inventory/runs/ledger.ts'
import { listRuns } from '#src/inventory/runs/list-runs.ts'
import { failRunsBefore } from '#src/inventory/runs/lost-runs.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { expireLeases, removeLeases, takeOverLeases } from '#test/support/leases.ts'
import { NEW_RUN } from '#test/support/runs.ts'
import { currentIds, rules, scriptedAccount, syncListed, upTo, withAccounts } from './scripted-account.ts'

const NEVER = new AbortController().signal
const SMALL = { rules: 0, servers: 0 }

/** Syncs; once the platform has answered and before anything is applied, `meanwhile` happens to the worker's lease. */
function syncWhile(harness: FerryHarness, meanwhile: () => Promise<unknown>) {
  const account = scriptedAccount('default', () => rules(upTo(5)))
  const listAlertRules: typeof account.client.listAlertRules = async function* (...ask) {
    yield* account.client.listAlertRules(...ask)
    await meanwhile()
  }
  const context = withAccounts(harness, { ...account, client: { ...account.client, listAlertRules } })
  return syncInventory(context, { account: 'default', resource: 'alert-rules', trigger: 'manual' }, NEVER)
}

const LOST = { 'has expired': expireLeases, 'was taken over': takeOverLeases, 'is gone': removeLeases }

for (const [how, lose] of Object.entries(LOST)) {
  test(`what a worker has read is not applied if its lease ${how}`, async () => {
    await using harness = await openFerryHarness(SMALL)
    const result = await syncWhile(harness, () => lose(harness.ferry.pool))
    expect(result).toMatchObject({ status: 'failed', errorCode: 'LeaseLost', added: 0 })
    expect(await currentIds(harness)).toEqual([])
    const [run] = await harness.query('select status, applied_at from ferry.sync_runs')
    expect(run).toEqual({ status: 'failed', applied_at: null })
  })
}

test('what a worker has read is not applied if its run was called lost meanwhile', async () => {
  await using harness = await openFerryHarness(SMALL)
  const result = await syncWhile(harness, () =>
    failRunsBefore(harness.ferry.pool, NEW_RUN, crypto.randomUUID()),
  )
  expect(result.status).toBe('failed')
  expect(await currentIds(harness)).toEqual([])
})

test('a run that begins calls lost what another worker left unfinished of the same inventory, and of no other', async () => {
  await using harness = await openFerryHarness(SMALL)
  const inventories = [
    { account: 'default', resource: 'alert-rules' },
    { account: 'default', resource: 'mcp-servers' },
    { account: 'other', resource: 'alert-rules' },
  ] as const
  for (const inventory of inventories) {
    await startRun(harness.ferry.pool, { ...NEW_RUN, ...inventory }, { token: crypto.randomUUID() })
  }
  await syncListed(harness, [rules(upTo(3))])
  const runs = await listRuns(harness.ferry.pool, 9)
  expect(
    runs.map(({ account, resource, status, errorCode }) => [account, resource, status, errorCode]),
  ).toEqual([
    ['default', 'alert-rules', 'succeeded', null],
    ['other', 'alert-rules', 'running', null],
    ['default', 'mcp-servers', 'running', null],
    ['default', 'alert-rules', 'failed', 'WorkerLost'],
  ])
})
