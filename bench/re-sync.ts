import { syncInventory } from '#src/inventory/sync.ts'
import type { RunCounts } from '#src/model/run.ts'
import { fetchAndParse, rulesFetcher } from './support/fetch-rules.ts'
import { atMost, type Figure, median } from './support/figures.ts'
import { type Bench, NEVER, settingsFor } from './support/lab.ts'
import { timed, walOf } from './support/measure.ts'

/** `firstMs` and `walMb` are of rounds that a checkpoint preceded, `ms` of those after them; each with its floor. */
type Measured = {
  readonly ms: number[]
  readonly floorMs: number[]
  readonly firstMs: number[]
  readonly firstFloorMs: number[]
  readonly walMb: number[]
}

/**
 * A cycle is what happens between two checkpoints, of which Postgres makes one in five minutes by default: in the first round
 * after one, the first change to each page writes the page whole; in the others, one to most pages was made before.
 */
const CYCLES = 2
const ROUNDS = 4

/**
 * What it costs a worker that has synced an account before to find that nothing, or little, has changed: the time against
 * what fetching and parsing the same body takes, and what is written ahead for it. The rounds between checkpoints are
 * judged; the first one after a checkpoint is printed beside them.
 */
export const reSync: Bench = async lab => {
  const rules = lab.size(100_000, 5_000)
  const sandbox = await lab.openSandbox({ rules, hugeIds: 0 })
  const databaseUrl = await lab.openDatabase()
  const ferry = await lab.openFerry(settingsFor(databaseUrl, sandbox))
  const client = await lab.connect(databaseUrl)
  const listing = rulesFetcher(lab, sandbox)
  const syncOnce = async (expected: Partial<RunCounts>) => {
    const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
    const run = await syncInventory(ferry, request, NEVER)
    for (const [name, count] of Object.entries(expected)) {
      const found = run[name as keyof RunCounts]
      if (found !== count) throw new Error(`${found} rows ${name}, not ${count}: ${run.message}`)
    }
  }
  const measure = async (into: Measured, expected: Partial<RunCounts>, round: number) => {
    await listing.fetchPacked() // the sandbox makes and packs the body once
    // What autovacuum does within a minute or so, marking rows as seen by all; here not while something is measured.
    await client.query('vacuum (analyze)')
    const sync = () => timed(() => syncOnce(expected))
    if (round === 1) into.walMb.push(await walOf(client, async () => into.firstMs.push(await sync())))
    else into.ms.push(await sync())
    const floorMs = await timed(() => fetchAndParse(listing))
    ;(round === 1 ? into.firstFloorMs : into.floorMs).push(floorMs)
  }
  const some = rules / 100
  const mutate = (kind: 'rule-changed' | 'rule-fired') =>
    sandbox.admin('mutate', { count: some, mix: [kind] })
  const inCycles = async (work: (round: number, seed: number) => Promise<void>) => {
    for (let cycle = 0; cycle < lab.size(CYCLES, 1); cycle++) {
      for (let round = 1; round <= lab.size(ROUNDS, 2); round++) await work(round, cycle * ROUNDS + round)
    }
  }
  await syncOnce({ added: rules })

  const [reordered, identical, flipped, changed, rewritten] = Array.from({ length: 5 }, nothing) as Five
  await inCycles(async (round, seed) => {
    await sandbox.admin('reorder', { seed: 2 * seed, keepsFields: true })
    await measure(reordered, { unchanged: rules }, round)
    await measure(identical, { unchanged: rules }, round)
    await mutate('rule-changed')
    await mutate('rule-fired')
    await sandbox.admin('reorder', { seed: 2 * seed + 1, keepsFields: true })
    await measure(flipped, { changed: some }, round)
  })
  await inCycles(async round => {
    await mutate('rule-changed')
    await measure(changed, { changed: some }, round)
  })
  for (let seed = 101; seed <= lab.size(103, 101); seed++) {
    await sandbox.admin('reorder', { seed })
    await measure(rewritten, { unchanged: rules }, ROUNDS)
  }
  const times = (what: string, of: Measured, good?: number, must?: number): Figure => ({
    measure: `re-sync of ${rules} rules, ${what}`,
    value: median(of.ms) / 1000,
    floor: median(of.floorMs) / 1000,
    rounds: of,
    unit: 's',
    ...(good !== undefined && must !== undefined && { wanted: atMost(good, { must }) }),
  })
  const first = (what: string, of: Measured): Figure => ({
    measure: `the same, ${what}, first after a checkpoint`,
    value: median(of.firstMs) / 1000,
    floor: median(of.firstFloorMs) / 1000,
    unit: 's',
  })
  const wal = (what: string, of: Measured, good: number, must: number): Figure => ({
    measure: `WAL of ${what}, after a checkpoint`,
    value: Math.max(...of.walMb),
    rounds: { walMb: of.walMb },
    unit: 'MB',
    wanted: atMost(good, { must }),
  })
  return [
    times('unchanged, another order', reordered, 0.5, 0.7),
    wal('unchanged, another order', reordered, 1, 1),
    times('identical body', identical, 0.5, 0.7),
    times('1 % changed and 1 % fired, another order', flipped, 0.7, 1),
    first('1 % changed and 1 % fired, another order', flipped),
    times('1 % changed', changed, 0.7, 1),
    first('1 % changed', changed),
    times('unchanged, the fields of each row in another order', rewritten, 1.5, 2),
    wal('1 % changed', changed, 7, 9),
  ]
}

type Five = [Measured, Measured, Measured, Measured, Measured]

function nothing(): Measured {
  return { ms: [], floorMs: [], firstMs: [], firstFloorMs: [], walMb: [] }
}
