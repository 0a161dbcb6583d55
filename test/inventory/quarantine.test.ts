import { expect, test } from 'vitest'
import type { RunResult } from '#src/model/run.ts'
import { MOST_STORED } from '#src/store/findings.ts'
import { loadRun } from '#src/store/run-reports.ts'
import { openWorld, type World } from '#test/support/world.ts'

function rulesOf(world: World) {
  return world.sandbox.state.rules.rows()
}

/** Makes rules unreadable, each in its own way. */
function spoil(world: World, ids: readonly bigint[], name: unknown = 7): void {
  world.sandbox.breakContract()
  for (const id of ids) world.sandbox.state.changeRule(id, { name: name as string })
}

async function idsShown(world: World, { run }: RunResult): Promise<(string | null)[]> {
  const details = await loadRun(world.ferry.pool, run)
  return details?.quarantined.map(row => row.id) ?? []
}

const stored = (world: World) =>
  world.query('select run_id, id, until_run from ferry.quarantined_rows order by run_id, position')

test('rows that are set aside again are not stored again, and every run shows those that held for it', async () => {
  await using world = await openWorld({ rules: 5 })
  const [a, b] = world.sandbox.state.rules.ids()
  const sound = await world.sync()
  spoil(world, [a!, b!])
  const first = await world.sync()
  // Other data, the same two rows, at other places of the list.
  world.sandbox.state.reorder(3)
  const second = await world.sync()
  expect([first, second]).toMatchObject(Array(2).fill({ status: 'succeeded', seen: 5, quarantined: 2 }))
  expect(await stored(world)).toMatchObject(Array(2).fill({ run_id: `${first.run}`, until_run: null }))

  // One changes, and a run later the other is sound again.
  spoil(world, [a!], false)
  const third = await world.sync()
  world.sandbox.state.changeRule(b!, { name: 'mended' })
  const fourth = await world.sync()
  spoil(world, [b!])
  const fifth = await world.sync()
  const named = (...ids: bigint[]) => ids.map(String).sort()
  const shown = []
  for (const run of [sound, first, second, third, fourth, fifth]) {
    shown.push((await idsShown(world, run)).sort())
  }
  expect(shown).toEqual([[], named(a!, b!), named(a!, b!), named(a!, b!), named(a!), named(a!, b!)])
  expect(await stored(world)).toHaveLength(4)
  const details = await loadRun(world.ferry.pool, second.run)
  expect(details?.quarantined.map(row => row.reason)).toEqual(
    Array(2).fill('name must be text, not a number'),
  )
})

test('identical data is as quarantined as it was, finished after hashing and shown the same', async () => {
  await using world = await openWorld({ rules: 5 })
  const [a] = world.sandbox.state.rules.ids()
  await world.sync()
  spoil(world, [a!])
  const first = await world.sync()
  const parsed = await world.query('select data_hashes from ferry.sync_runs where id = $1', [first.run])
  const second = await world.sync()
  const { run: _, durationMs: __, ...same } = first
  expect(second).toMatchObject({ ...same, changed: 0, unchanged: 4, quarantined: 1, seen: 5 })
  expect(await world.query('select data_hashes from ferry.sync_runs where id = $1', [second.run])).toEqual(
    parsed,
  )
  expect(await idsShown(world, second)).toEqual([`${a}`])
  expect(await stored(world)).toHaveLength(1)
  // Mended, it is read again.
  world.sandbox.state.changeRule(a!, { name: 'mended' })
  expect(await world.sync()).toMatchObject({ quarantined: 0, changed: 1, unchanged: 4 })
})

test('data with a row whose id cannot be read is read again each time', async () => {
  await using world = await openWorld({ rules: 3 })
  await world.sync()
  world.sandbox.breakContract()
  world.sandbox.state.addRule({ id: 'seven' as never })
  expect(await world.sync()).toMatchObject({ status: 'partial', quarantined: 1 })
  expect(await world.sync()).toMatchObject({ status: 'partial', quarantined: 1 })
})

test('of very many rows the first ones are stored, the rest is counted and said, run after run', async () => {
  const many = MOST_STORED + 20
  await using world = await openWorld({ rules: many })
  const ids = world.sandbox.state.rules.ids()
  spoil(world, ids)
  const first = await world.sync()
  const said = `Of ${many} rows that could not be read, ${MOST_STORED} are stored.`
  expect(first).toMatchObject({ status: 'succeeded', quarantined: many, message: said })
  expect(await stored(world)).toHaveLength(MOST_STORED)
  expect(await world.sync()).toMatchObject({ quarantined: many, message: said })
  world.sandbox.state.reorder(5)
  expect(await world.sync()).toMatchObject({ quarantined: many, message: said })
  expect(await stored(world)).toHaveLength(MOST_STORED)

  // Where some are mended there is room for others.
  for (const id of ids.slice(0, 50)) world.sandbox.state.changeRule(id, { name: 'mended' })
  const later = await world.sync()
  expect(later).toMatchObject({ quarantined: many - 50, added: 50, message: null })
  expect(new Set(await idsShown(world, later))).toEqual(new Set(ids.slice(50).map(String)))
})

test('rows that are alike are as many as they are', async () => {
  await using world = await openWorld({ rules: 1 })
  world.sandbox.state.replaceRulesBody('[null,null,null]')
  const three = await world.sync()
  world.sandbox.state.replaceRulesBody('[null, null]')
  const two = await world.sync()
  world.sandbox.state.replaceRulesBody('[null, null, null]')
  const again = await world.sync()
  expect([three, two, again].map(run => run.quarantined)).toEqual([3, 2, 3])
  expect(await idsShown(world, three)).toHaveLength(3)
  expect(await idsShown(world, two)).toHaveLength(2)
  expect(await idsShown(world, again)).toHaveLength(3)
})

test('each scope has rows of its own', async () => {
  await using world = await openWorld({ rules: 20, folders: 2 })
  const folder = rulesOf(world)[0]!.folder_id
  const inside = rulesOf(world).find(rule => rule.folder_id === folder)!
  const outside = rulesOf(world).find(rule => rule.folder_id !== folder)!
  spoil(world, [inside.id, outside.id])
  const all = await world.sync()
  const one = await world.sync({ folders: [folder] })
  const allAgain = await world.sync()
  expect(await idsShown(world, one)).toEqual([`${inside.id}`])
  expect((await idsShown(world, all)).sort()).toEqual([`${inside.id}`, `${outside.id}`].sort())
  expect((await idsShown(world, allAgain)).sort()).toEqual([`${inside.id}`, `${outside.id}`].sort())
  // A run that failed read nothing, so it has set nothing aside.
  world.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' })
  expect(await idsShown(world, await world.sync())).toEqual([])
})

test('rows that an earlier version of Ferry stored hold for their own run alone', async () => {
  await using world = await openWorld({ rules: 5 })
  const [a] = world.sandbox.state.rules.ids()
  spoil(world, [a!])
  const first = await world.sync()
  await world.query('update ferry.quarantined_rows set fingerprint = null')
  const second = await world.sync()
  world.sandbox.state.reorder(3)
  const third = await world.sync()
  expect(await idsShown(world, first)).toEqual([`${a}`])
  expect(await idsShown(world, second)).toEqual([])
  expect(await idsShown(world, third)).toEqual([`${a}`])
})
