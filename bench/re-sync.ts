import { syncInventory } from '#src/inventory/sync.ts'
import type { RunCounts } from '#src/model/run.ts'
import { fetchAndParse, rulesFetcher } from './support/fetch-rules.ts'
import { atMost, type Figure, median } from './support/figures.ts'
import { type Bench, NEVER, settingsFor } from './support/lab.ts'
import { timed, walOf } from './support/measure.ts'

type Measured = { readonly ms: number[]; readonly floorMs: number[]; readonly walMb: number[] }

/**
 * What it costs a worker that has synced an account before to find that nothing, or little, has changed: the time against
 * what fetching and parsing the same body takes, and what is written ahead for it.
 */
export const reSync: Bench = async lab => {
  const rules = lab.size(100_000, 5_000)
  const sandbox = await lab.openSandbox({ rules, hugeIds: 0 })
  const databaseUrl = await lab.openDatabase()
  const ferry = await lab.openFerry(settingsFor(databaseUrl, sandbox))
  const client = await lab.connect(databaseUrl)
  const listing = rulesFetcher(lab, sandbox)
  const sync = async (expected: Partial<RunCounts>) => {
    const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
    const run = await syncInventory(ferry, request, NEVER)
    for (const [name, count] of Object.entries(expected)) {
      const found = run[name as keyof RunCounts]
      if (found !== count) throw new Error(`${found} rows ${name}, not ${count}: ${run.message}`)
    }
  }
  const measure = async (into: Measured, expected: Partial<RunCounts>, floor: () => Promise<unknown>) => {
    await listing.fetchPacked() // the sandbox makes and packs the body once
    // What autovacuum does within a minute or so, marking rows as seen by all; here not while something is measured.
    await client.query('vacuum (analyze)')
    into.walMb.push(await walOf(client, async () => into.ms.push(await timed(() => sync(expected)))))
    into.floorMs.push(await timed(floor))
  }
  const parse = () => fetchAndParse(listing)
  const some = rules / 100
  const mutate = (kind: 'rule-changed' | 'rule-fired') =>
    sandbox.admin('mutate', { count: some, mix: [kind] })
  await sync({ added: rules })

  const [reordered, identical, flipped, changed, rewritten] = Array.from({ length: 5 }, nothing) as Five
  for (let round = 1; round <= lab.size(5, 1); round++) {
    await sandbox.admin('reorder', { seed: 2 * round, keepsFields: true })
    await measure(reordered, { unchanged: rules }, parse)
    await measure(identical, { unchanged: rules }, parse)
    await mutate('rule-changed')
    await mutate('rule-fired')
    await sandbox.admin('reorder', { seed: 2 * round + 1, keepsFields: true })
    await measure(flipped, { changed: some }, parse)
  }
  for (let round = 1; round <= lab.size(3, 1); round++) {
    await mutate('rule-changed')
    await measure(changed, { changed: some }, parse)
    await sandbox.admin('reorder', { seed: 100 + round })
    await measure(rewritten, { unchanged: rules }, parse)
  }
  const times = (what: string, of: Measured, good?: number, must?: number): Figure => ({
    measure: `re-sync of ${rules} rules, ${what}`,
    value: median(of.ms) / 1000,
    floor: median(of.floorMs) / 1000,
    rounds: of,
    unit: 's',
    ...(good !== undefined && must !== undefined && { wanted: atMost(good, { must }) }),
  })
  const wal = (what: string, of: Measured, good: number, must: number): Figure => ({
    measure: `WAL of ${what}, after a checkpoint`,
    value: Math.max(...of.walMb),
    rounds: { walMb: of.walMb },
    unit: 'MB',
    wanted: atMost(good, { must }),
  })
  return [
    times('unchanged, another order', reordered, 0.7, 1),
    wal('unchanged, another order', reordered, 1, 1),
    times('identical body', identical, 0.7, 1),
    times('1 % changed and 1 % fired, another order', flipped, 0.8, 1.1),
    times('1 % changed', changed, 0.8, 1.1),
    times('unchanged, the fields of each row in another order', rewritten),
    wal('1 % changed', changed, 9, 12),
  ]
}

type Five = [Measured, Measured, Measured, Measured, Measured]

function nothing(): Measured {
  return { ms: [], floorMs: [], walMb: [] }
}
