import { expect, test } from 'vitest'
import { resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { listSummaryRows } from '#src/imports/reporting/summary.ts'
import type { FaultInput } from '#src/sandbox/faults.ts'
import { pick, type Random, seededRandom } from '#src/sandbox/random.ts'
import { ADA } from '#test/support/acted-by.ts'
import { openTestDatabase } from '#test/support/database.ts'
import { type Chaos, go, openChaos, report } from '#test/support/import-chaos.ts'
import { waitFor } from '#test/support/wait-for.ts'

const SEED = Number(process.env.FERRY_TEST_SEED ?? 1)

test('a platform that refuses calls of which it has applied half loses nobody, and the ledger has every call', async () => {
  const random = seededRandom(SEED)
  await using database = await openTestDatabase()
  await using chaos = await openChaos(database.url, { refusedMayBeApplied: true })
  for (let staged = 0; staged < 24; staged++) {
    await chaos.stage({ rows: 16, onUncertain: staged % 2 === 0 ? 'hold' : 'resend' })
  }
  const faults: Record<string, number> = {}
  chaos.sandbox.state.onCall(({ operation }) => {
    const fault = operation === 'import-subscribers' && random() < 0.25 ? someRefusal(random) : undefined
    const name = fault?.kind === 'error' ? fault.code : fault?.kind
    if (name) faults[name] = (faults[name] ?? 0) + 1
    return fault
  })
  go(await chaos.startWorker())
  go(await chaos.startWorker())
  const resumed = await untilAllRest(chaos)

  const undecided = await listSummaryRows(chaos.pool, 99, { status: 'undecided' })
  chaos.sandbox.state.onCall(null)
  for (const { id } of undecided) await resolveUncertain(chaos.pool, BigInt(id), 'resend', ADA)
  await untilAllRest(chaos)
  const { wrong, ...counts } = await chaos.verdict()
  report({ seed: SEED, faults, resumed, undecided: undecided.length, ...counts })
  expect(wrong).toEqual([])
  // What no ledger can tell: these were delivered again though no outcome was uncertain.
  expect(counts.deliveredAgain).toBeGreaterThan(0)
  const ended = await listSummaryRows(chaos.pool, 99)
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['completed']))
})

function someRefusal(random: Random): FaultInput {
  return pick<FaultInput>(random, [
    { kind: 'error', code: 'InvalidParameter', applied: 'half' },
    { kind: 'error', code: 'UndonedOrderExist', applied: 'half' },
    { kind: 'error', code: 'RequestLocked', applied: 'half' },
    { kind: 'error', code: 'ServiceUnavailable', applied: 'half' },
    { kind: 'error', code: 'RequestTooFrequently', applied: 'half' },
    { kind: 'drop', applied: 'half' },
  ])
}

/** Resumes what pauses by itself, until every import has ended or needs a decision; returns how many pauses there were. */
async function untilAllRest({ pool, unfinished }: Chaos): Promise<number> {
  let resumed = 0
  const rest = async () => {
    const paused = await listSummaryRows(pool, 99, { status: 'paused' })
    for (const { id } of paused) await resumeImport(pool, BigInt(id), ADA)
    resumed += paused.length
    return (await unfinished()) === 0
  }
  await waitFor(rest, { timeoutMs: 480_000, what: 'all imports to end' })
  return resumed
}
