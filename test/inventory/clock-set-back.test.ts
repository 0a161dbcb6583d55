import { expect, test } from 'vitest'
import { takeSnapshot } from '#src/inventory/history/snapshots.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { ageRuns } from '#test/support/runs.ts'
import { ageSnapshots, diffSnapshots } from '#test/support/snapshots.ts'
import { ageFirings, ageRuleVersions } from '#test/support/versions.ts'
import { rules, scriptedAccount, syncListed, withAccounts } from './scripted-account.ts'

const NEVER = new AbortController().signal
const SMALL = { rules: 0, servers: 0 }

/** As if the database's clock had been an hour ahead until now. */
async function setClockBack(harness: FerryHarness): Promise<void> {
  for (const age of [ageRuns, ageRuleVersions, ageFirings, ageSnapshots]) {
    await age(harness.ferry.pool, '-1 hour')
  }
}

/** By how much each run took effect later than the one before it; the clock's own time is left out. */
function steps(harness: FerryHarness, resource = 'alert-rules') {
  return harness.query(
    `select (applied_at - lag(applied_at) over (order by id))::text as later from ferry.sync_runs
     where resource = $1 and applied_at is not null order by id offset 1`,
    [resource],
  )
}

const MICROSECOND = { later: '00:00:00.000001' }

test('after the clock was set back, each run takes effect a microsecond after the one before', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [rules([1], { name: 'first', firing: true })])
  await setClockBack(harness)
  await syncListed(harness, [rules([1], { name: 'second' })])
  await syncListed(harness, [rules([1], { name: 'third', firing: true })])
  expect(await steps(harness)).toEqual([MICROSECOND, MICROSECOND])
  const versions = await harness.query(
    `select name, (valid_to - valid_from)::text as lasted from ferry.alert_rule_versions order by valid_from`,
  )
  expect(versions).toEqual([
    { name: 'first', lasted: '00:00:00.000001' },
    { name: 'second', lasted: '00:00:00.000001' },
    { name: 'third', lasted: null },
  ])
})

test('a run that applied nothing in between does not hide how far the clock had come', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [rules([1], { name: 'first' })])
  await setClockBack(harness)
  harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' })
  expect(await harness.sync()).toMatchObject({ status: 'failed' })
  await syncListed(harness, [rules([1], { name: 'second' })])
  expect(await steps(harness)).toEqual([MICROSECOND])
})

test('after the clock was set back, no inventory takes effect before what was applied of another', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 1 })
  await syncListed(harness, [rules([1])])
  await setClockBack(harness)
  await syncListed(harness, [rules([1])], { account: 'other' })
  await harness.sync({ resource: 'mcp-servers' })
  const runs = await harness.query(
    'select (applied_at - lag(applied_at) over (order by id))::text as later from ferry.sync_runs order by id offset 1',
  )
  expect(runs).toEqual([MICROSECOND, MICROSECOND])
})

test('a snapshot taken after the clock was set back shows what its runs found, and one from before what it showed', async () => {
  await using harness = await openFerryHarness(SMALL)
  const take = async (name: string) =>
    (
      await takeSnapshot(
        withAccounts(
          harness,
          scriptedAccount('default', () => rules([1], { name })),
        ),
        { account: 'default', trigger: 'manual' },
        NEVER,
      )
    ).snapshot!
  const before = await take('first')
  await setClockBack(harness)
  const after = await take('second')
  expect(await diffSnapshots(harness.ferry.pool, before, after)).toMatchObject([
    { change: 'changed', name: 'second', fields: ['name'] },
  ])
})
