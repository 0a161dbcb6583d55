import { expect, test } from 'vitest'
import { MAX_STORED_ROWS, Quarantine } from '#src/inventory/read/quarantine.ts'
import { loadRun } from '#src/inventory/runs/list-runs.ts'
import type { RunResult } from '#src/model/run.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'

function rulesOf(harness: FerryHarness) {
  return harness.sandbox.state.rules.rows()
}

/** Makes rules unreadable, each in its own way. */
function spoil(harness: FerryHarness, ids: readonly bigint[], name: unknown = 7): void {
  harness.sandbox.breakContract()
  for (const id of ids) harness.sandbox.state.changeRule(id, { name: name as string })
}

async function idsShown(harness: FerryHarness, { run }: RunResult): Promise<(string | null)[]> {
  const details = await loadRun(harness.ferry.pool, run)
  return details?.quarantined.map(row => row.id) ?? []
}

const stored = (harness: FerryHarness) =>
  harness.query('select run_id, id, until_run from ferry.quarantined_rows order by run_id, position')

test('rows that are set aside again are not stored again, and every run shows those that held for it', async () => {
  await using harness = await openFerryHarness({ rules: 5 })
  const [a, b] = harness.sandbox.state.rules.ids()
  const sound = await harness.sync()
  spoil(harness, [a!, b!])
  const first = await harness.sync()
  // Other data, the same two rows, at other places of the list.
  harness.sandbox.state.reorder(3)
  const second = await harness.sync()
  expect([first, second]).toMatchObject(Array(2).fill({ status: 'succeeded', seen: 5, quarantined: 2 }))
  expect(await stored(harness)).toMatchObject(Array(2).fill({ run_id: `${first.run}`, until_run: null }))

  // One changes, and a run later the other is sound again.
  spoil(harness, [a!], false)
  const third = await harness.sync()
  harness.sandbox.state.changeRule(b!, { name: 'mended' })
  const fourth = await harness.sync()
  spoil(harness, [b!])
  const fifth = await harness.sync()
  const named = (...ids: bigint[]) => ids.map(String).sort()
  const shown = []
  for (const run of [sound, first, second, third, fourth, fifth]) {
    shown.push((await idsShown(harness, run)).sort())
  }
  expect(shown).toEqual([[], named(a!, b!), named(a!, b!), named(a!, b!), named(a!), named(a!, b!)])
  expect(await stored(harness)).toHaveLength(4)
  const details = await loadRun(harness.ferry.pool, second.run)
  expect(details?.quarantined.map(row => row.reason)).toEqual(
    Array(2).fill('name must be text, not a number'),
  )
})

test('identical data is as quarantined as it was, finished after hashing and shown the same', async () => {
  await using harness = await openFerryHarness({ rules: 5 })
  const [a] = harness.sandbox.state.rules.ids()
  await harness.sync()
  spoil(harness, [a!])
  const first = await harness.sync()
  const parsed = await harness.query('select data_hashes from ferry.sync_runs where id = $1', [first.run])
  const second = await harness.sync()
  const { run: _, durationMs: __, ...same } = first
  expect(second).toMatchObject({ ...same, changed: 0, unchanged: 4, quarantined: 1, seen: 5 })
  expect(await harness.query('select data_hashes from ferry.sync_runs where id = $1', [second.run])).toEqual(
    parsed,
  )
  expect(await idsShown(harness, second)).toEqual([`${a}`])
  expect(await stored(harness)).toHaveLength(1)
  // Mended, it is read again.
  harness.sandbox.state.changeRule(a!, { name: 'mended' })
  expect(await harness.sync()).toMatchObject({ quarantined: 0, changed: 1, unchanged: 4 })
})

test('data with a row whose id cannot be read is read again each time', async () => {
  await using harness = await openFerryHarness({ rules: 3 })
  await harness.sync()
  harness.sandbox.breakContract()
  harness.sandbox.state.addRule({ id: 'seven' as never })
  expect(await harness.sync()).toMatchObject({ status: 'partial', quarantined: 1 })
  expect(await harness.sync()).toMatchObject({ status: 'partial', quarantined: 1 })
})

test('of very many rows the first ones are stored, the rest is counted and said, run after run', async () => {
  const many = MAX_STORED_ROWS + 20
  await using harness = await openFerryHarness({ rules: many })
  const ids = harness.sandbox.state.rules.ids()
  spoil(harness, ids)
  const first = await harness.sync()
  const said = `Of ${many} rows that could not be read, ${MAX_STORED_ROWS} are stored.`
  expect(first).toMatchObject({ status: 'succeeded', quarantined: many, message: said })
  expect(await stored(harness)).toHaveLength(MAX_STORED_ROWS)
  expect(await harness.sync()).toMatchObject({ quarantined: many, message: said })
  harness.sandbox.state.reorder(5)
  expect(await harness.sync()).toMatchObject({ quarantined: many, message: said })
  expect(await stored(harness)).toHaveLength(MAX_STORED_ROWS)

  // Where some are mended there is room for others.
  for (const id of ids.slice(0, 50)) harness.sandbox.state.changeRule(id, { name: 'mended' })
  const later = await harness.sync()
  expect(later).toMatchObject({ quarantined: many - 50, added: 50, message: null })
  expect(new Set(await idsShown(harness, later))).toEqual(new Set(ids.slice(50).map(String)))
})

test('rows that are alike are as many as they are', async () => {
  await using harness = await openFerryHarness({ rules: 1 })
  harness.sandbox.state.replaceRulesBody('[null,null,null]')
  const three = await harness.sync()
  harness.sandbox.state.replaceRulesBody('[null, null]')
  const two = await harness.sync()
  harness.sandbox.state.replaceRulesBody('[null, null, null]')
  const again = await harness.sync()
  expect([three, two, again].map(run => run.quarantined)).toEqual([3, 2, 3])
  expect(await idsShown(harness, three)).toHaveLength(3)
  expect(await idsShown(harness, two)).toHaveLength(2)
  expect(await idsShown(harness, again)).toHaveLength(3)
})

test('rows of several listings are told apart as those of one are', () => {
  const row = (position: number) => ({
    position,
    id: `${position % 70}`,
    reason: 'name must be text',
    raw: `{"id":${position % 70}}`,
  })
  const all = new Quarantine()
  const joined = new Quarantine()
  let rowsBefore = 0
  for (const size of [3, 0, 100, 2]) {
    const part = new Quarantine()
    for (let n = 0; n < size; n++) {
      part.add(row(n))
      all.add({ ...row(n), position: rowsBefore + n })
    }
    joined.append(part, rowsBefore)
    rowsBefore += size
  }
  expect([...joined.byFingerprint()]).toEqual([...all.byFingerprint()])
  expect(new Set([...all.byFingerprint()].map(([hash]) => hash)).size).toBe(rowsBefore)
})

test('each scope has rows of its own', async () => {
  await using harness = await openFerryHarness({ rules: 20, folders: 2 })
  const folder = rulesOf(harness)[0]!.folder_id
  const inside = rulesOf(harness).find(rule => rule.folder_id === folder)!
  const outside = rulesOf(harness).find(rule => rule.folder_id !== folder)!
  spoil(harness, [inside.id, outside.id])
  const all = await harness.sync()
  const one = await harness.sync({ folders: [folder] })
  const allAgain = await harness.sync()
  expect(await idsShown(harness, one)).toEqual([`${inside.id}`])
  expect((await idsShown(harness, all)).sort()).toEqual([`${inside.id}`, `${outside.id}`].sort())
  expect((await idsShown(harness, allAgain)).sort()).toEqual([`${inside.id}`, `${outside.id}`].sort())
  // A run that failed read nothing, so it has set nothing aside.
  harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' })
  expect(await idsShown(harness, await harness.sync())).toEqual([])
})

test('a number that Postgres could not hold is not kept, and costs no other row its place', async () => {
  await using harness = await openFerryHarness({ rules: 4 })
  const [a, b, c] = harness.sandbox.state.rules.ids() as [bigint, bigint, bigint]
  harness.sandbox.breakContract()
  const delays = [BigInt('7'.repeat(140_000)), 2n ** 64n, -(2n ** 64n) + 1n]
  for (const [n, id] of [a, b, c].entries())
    harness.sandbox.state.changeRule(id, { delay_seconds: delays[n] as bigint })
  const result = await harness.sync()
  expect(result).toMatchObject({ status: 'succeeded', seen: 4, added: 1, quarantined: 3 })
  expect(
    await harness.query(
      `select raw ->> 'delay_seconds' as delay from ferry.quarantined_rows order by id::numeric`,
    ),
  ).toEqual(
    [a, b, c]
      .map((id, n) => ({ id, delay: n < 2 ? '(number, not kept)' : `${delays[n]}` }))
      .sort((one, other) => (one.id < other.id ? -1 : 1))
      .map(({ delay }) => ({ delay })),
  )
})
