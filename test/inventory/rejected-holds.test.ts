import { expect, test } from 'vitest'
import { approveRun, NothingToApprove, rejectRun } from '#src/inventory/holds/approve.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'

const NEVER = new AbortController().signal

/** Fifteen rules of which twelve are gone from the platform; the run that holds their removal, rejected. */
async function openRejected() {
  const harness = await openFerryHarness({ rules: 15 })
  await harness.sync()
  const gone = harness.sandbox.state.rules.ids().slice(0, 12)
  const rules = gone.map(id => harness.sandbox.state.rules.get(id))
  for (const id of gone) harness.sandbox.state.removeRule(id)
  const held = await harness.sync()
  expect(held.status).toBe('held')
  expect(await rejectRun(harness.ferry, held.run, ADA)).toBe(12)
  const bringBack = (n: number) => {
    for (const rule of rules.slice(0, n)) harness.sandbox.state.addRule(rule)
  }
  return Object.assign(harness, { gone, held, bringBack })
}

async function current(harness: FerryHarness): Promise<number> {
  const [{ n } = { n: 0 }] = await harness.query<{ n: number }>(
    'select count(*)::int as n from ferry.alert_rules',
  )
  return n
}

test('a rejected hold is ended, with who did it; its rows stay, and the next polls say so and hold nothing', async () => {
  await using harness = await openRejected()
  expect(await harness.query('select outcome, rejected_by, ended_at from ferry.removal_holds')).toEqual([
    { outcome: 'rejected', rejected_by: 'ada@laptop', ended_at: expect.any(Date) },
  ])
  for (let poll = 0; poll < 2; poll++) {
    const run = await harness.sync()
    expect(run).toMatchObject({ status: 'succeeded', removed: 0, requests: 1 })
    expect(run.message).toContain('12 rows are not listed and kept, because their removal was rejected')
  }
  expect(await current(harness)).toBe(15)
  expect(await harness.query('select from ferry.removal_holds')).toHaveLength(1)
})

test('the run that a person named is the one that is told, though a later one held the same rows', async () => {
  await using harness = await openFerryHarness({ rules: 15 })
  await harness.sync()
  for (const id of harness.sandbox.state.rules.ids().slice(0, 12)) harness.sandbox.state.removeRule(id)
  const named = await harness.sync()
  const later = await harness.sync()
  expect(await rejectRun(harness.ferry, named.run, ADA)).toBe(12)
  harness.sandbox.state.removeRule(harness.sandbox.state.rules.ids()[0]!)
  const words = async () => /kept by a decision on run (\d+)/.exec(`${(await harness.sync()).message}`)?.[1]
  expect(await words()).toBe(`${named.run}`)
  // The audit log is not kept for ever.
  await harness.query('delete from ferry.audit')
  expect(await words()).toBe(`${later.run}`)
})

test('a hold is rejected once, and not approved afterwards', async () => {
  await using harness = await openRejected()
  await expect(rejectRun(harness.ferry, harness.held.run, { ...ADA, actor: 'b' })).rejects.toThrow(
    NothingToApprove,
  )
  await expect(approveRun(harness.ferry, harness.held.run, ADA, NEVER)).rejects.toThrow(NothingToApprove)
})

test('one row more that is gone opens a hold of that row: the listing is known to be wrong', async () => {
  await using harness = await openRejected()
  const [one] = harness.sandbox.state.rules.ids()
  harness.sandbox.state.removeRule(one!)
  const run = await harness.sync()
  expect(run).toMatchObject({ status: 'held', removed: 0 })
  expect(run.message).toContain(
    `1 more of 15 rows is gone from the listing; 12 others were kept by a decision on run ${harness.held.run};`,
  )
  expect(await rejectRun(harness.ferry, run.run, { ...ADA, actor: 'b' })).toBe(1)
  // The new rejection stands beside the earlier one.
  const rejections = 'select rejected_by from ferry.removal_holds where rejected_ids is not null'
  expect(await harness.query(`${rejections} order by id`)).toEqual([
    { rejected_by: 'ada@laptop' },
    { rejected_by: 'b' },
  ])
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', removed: 0 })
  expect(await current(harness)).toBe(15)
})

test('a row that came back and goes again may be removed; those that stayed away are kept', async () => {
  await using harness = await openRejected()
  harness.bringBack(12)
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', message: null })
  harness.sandbox.state.removeRule(harness.gone[0]!)
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', removed: 1 })
  expect(await current(harness)).toBe(14)
})

test('of those that came back in part, the others are kept, however few they are', async () => {
  await using harness = await openRejected()
  harness.bringBack(9)
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', removed: 0 })
  expect(await current(harness)).toBe(15)
  harness.sandbox.state.removeRule(harness.gone[0]!)
  expect(await harness.sync()).toMatchObject({ status: 'held', removed: 0 })
})

test('a listing that is not complete says nothing about what came back', async () => {
  await using harness = await openRejected()
  harness.bringBack(12)
  harness.sandbox.breakContract()
  harness.sandbox.state.addRule({ id: 'no id' as never })
  expect(await harness.sync()).toMatchObject({ status: 'partial' })
  expect(await harness.query('select cardinality(rejected_ids) as kept from ferry.removal_holds')).toEqual([
    { kept: 12 },
  ])
})

test('--accept-removals removes them after all', async () => {
  await using harness = await openRejected()
  expect(await harness.sync({ acceptRemovals: true })).toMatchObject({ status: 'succeeded', removed: 12 })
  expect(await harness.query('select rejected_ids from ferry.removal_holds')).toEqual([
    { rejected_ids: null },
  ])
})
