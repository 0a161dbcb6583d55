import { expect, test } from 'vitest'
import { approveRun, NothingToApprove, rejectRun } from '#src/inventory/approve.ts'
import { openWorld, type World } from '#test/support/world.ts'

const NEVER = new AbortController().signal

/** Fifteen rules of which twelve are gone from the platform; the run that holds their removal, rejected. */
async function openRejected() {
  const world = await openWorld({ rules: 15 })
  await world.sync()
  const gone = world.sandbox.state.rules.ids().slice(0, 12)
  const rules = gone.map(id => world.sandbox.state.rules.get(id))
  for (const id of gone) world.sandbox.state.removeRule(id)
  const held = await world.sync()
  expect(held.status).toBe('held')
  expect(await rejectRun(world.ferry, held.run, 'ada@laptop')).toBe(12)
  const bringBack = (n: number) => {
    for (const rule of rules.slice(0, n)) world.sandbox.state.addRule(rule)
  }
  return Object.assign(world, { gone, held, bringBack })
}

async function current(world: World): Promise<number> {
  const [{ n } = { n: 0 }] = await world.query<{ n: number }>(
    'select count(*)::int as n from ferry.alert_rules',
  )
  return n
}

test('a rejected hold is ended, with who did it; its rows stay, and the next polls say so and hold nothing', async () => {
  await using world = await openRejected()
  expect(await world.query('select outcome, rejected_by, ended_at from ferry.removal_holds')).toEqual([
    { outcome: 'rejected', rejected_by: 'ada@laptop', ended_at: expect.any(Date) },
  ])
  for (let poll = 0; poll < 2; poll++) {
    const run = await world.sync()
    expect(run).toMatchObject({ status: 'succeeded', removed: 0, requests: 1 })
    expect(run.message).toContain('12 rows are not listed and kept, because their removal was rejected')
  }
  expect(await current(world)).toBe(15)
  expect(await world.query('select from ferry.removal_holds')).toHaveLength(1)
})

test('a hold is rejected once, and not approved afterwards', async () => {
  await using world = await openRejected()
  await expect(rejectRun(world.ferry, world.held.run, 'b')).rejects.toThrow(NothingToApprove)
  await expect(approveRun(world.ferry, world.held.run, NEVER)).rejects.toThrow(NothingToApprove)
})

test('one row more that is gone opens a new hold with all of them: the listing is known to be wrong', async () => {
  await using world = await openRejected()
  const [one] = world.sandbox.state.rules.ids()
  world.sandbox.state.removeRule(one!)
  const run = await world.sync()
  expect(run).toMatchObject({ status: 'held', removed: 0 })
  expect(run.message).toContain(
    `13 of 15 rows are gone from the listing, 12 of which were said not to be gone (run ${world.held.run});`,
  )
  expect(await rejectRun(world.ferry, run.run, 'b')).toBe(13)
  expect(await world.sync()).toMatchObject({ status: 'succeeded', removed: 0 })
  expect(await current(world)).toBe(15)
})

test('a row that came back and goes again may be removed; those that stayed away are kept', async () => {
  await using world = await openRejected()
  world.bringBack(12)
  expect(await world.sync()).toMatchObject({ status: 'succeeded', message: null })
  world.sandbox.state.removeRule(world.gone[0]!)
  expect(await world.sync()).toMatchObject({ status: 'succeeded', removed: 1 })
  expect(await current(world)).toBe(14)
})

test('of those that came back in part, the others are kept, however few they are', async () => {
  await using world = await openRejected()
  world.bringBack(9)
  expect(await world.sync()).toMatchObject({ status: 'succeeded', removed: 0 })
  expect(await current(world)).toBe(15)
  world.sandbox.state.removeRule(world.gone[0]!)
  expect(await world.sync()).toMatchObject({ status: 'held', removed: 0 })
})

test('a listing that is not complete says nothing about what came back', async () => {
  await using world = await openRejected()
  world.bringBack(12)
  world.sandbox.breakContract()
  world.sandbox.state.addRule({ id: 'no id' as never })
  expect(await world.sync()).toMatchObject({ status: 'partial' })
  expect(await world.query('select cardinality(rejected_ids) as kept from ferry.removal_holds')).toEqual([
    { kept: 12 },
  ])
})

test('--accept-removals removes them after all', async () => {
  await using world = await openRejected()
  expect(await world.sync({ acceptRemovals: true })).toMatchObject({ status: 'succeeded', removed: 12 })
  expect(await world.query('select rejected_ids from ferry.removal_holds')).toEqual([{ rejected_ids: null }])
})
