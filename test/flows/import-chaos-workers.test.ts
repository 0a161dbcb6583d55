import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { listSummaryRows } from '#src/imports/reporting/summary.ts'
import type { FaultInput } from '#src/sandbox/faults.ts'
import { between, pick, type Random, seededRandom } from '#src/sandbox/random.ts'
import { ADA } from '#test/support/acted-by.ts'
import { openTestDatabase } from '#test/support/database.ts'
import { go, kill, openChaos, report } from '#test/support/import-chaos.ts'

const SEED = Number(process.env.FERRY_TEST_SEED ?? 1)
const KILLS = 12
/** Longer than a lease lives, and than the claim of a batch lasts. */
const SUSPENDED_MS = 9_000

test('four workers, some killed and some suspended past their lease, lose nobody between them', async () => {
  const random = seededRandom(SEED)
  await using database = await openTestDatabase()
  await using chaos = await openChaos(database.url)
  for (let staged = 0; staged < 30; staged++) await chaos.stage()
  const workers: ChildProcess[] = []
  for (let started = 0; started < 4; started++) workers.push(await chaos.startWorker())
  workers.forEach(go)
  let ready = chaos.startWorker()
  const suspensions: Promise<void>[] = []
  for (let killed = 0; killed < KILLS; killed++) {
    await delay(between(random, 100, 900))
    if (killed % 4 === 1) suspensions.push(suspend(pick(random, workers)))
    const at = between(random, 0, workers.length - 1)
    await kill(workers[at]!)
    workers[at] = await ready
    go(workers[at])
    ready = chaos.startWorker()
    for (let n = await chaos.unfinished(); n < 20; n++) await chaos.stage()
  }
  await Promise.all([...suspensions, ready])
  await chaos.allEnded()

  const { wrong, ...counts } = await chaos.verdict()
  report({ seed: SEED, workers: 4, kills: KILLS, suspended: suspensions.length, ...counts })
  expect(wrong).toEqual([])
  expect(counts.deliveries).toBeGreaterThanOrEqual(counts.recipients)
})

/** Stands still, and wakes believing that it still has what it had. */
async function suspend(worker: ChildProcess): Promise<void> {
  worker.kill('SIGSTOP')
  await delay(SUSPENDED_MS)
  worker.kill('SIGCONT')
}

test('a platform that answers anything or nothing, having done the work or not, gets everybody, and nobody held twice', async () => {
  const random = seededRandom(SEED)
  await using database = await openTestDatabase()
  await using chaos = await openChaos(database.url)
  const held: bigint[] = []
  for (let staged = 0; staged < 24; staged++) {
    const onUncertain = staged % 3 === 0 ? 'hold' : 'resend'
    const id = await chaos.stage({ rows: 16, onUncertain })
    if (onUncertain === 'hold') held.push(id)
  }
  const faults: Record<string, number> = {}
  chaos.sandbox.state.onCall(({ operation }) => {
    const fault = operation === 'import-subscribers' && random() < 0.3 ? someFault(random) : undefined
    if (fault) faults[fault.kind] = (faults[fault.kind] ?? 0) + 1
    return fault
  })
  go(await chaos.startWorker())
  go(await chaos.startWorker())
  await chaos.allEnded()

  const first = await chaos.look()
  expect(first.wrong).toEqual([])
  const undecided = await chaos.pool.query<{ id: string; resends: number }>(
    `select i.id, sum(b.resends)::int as resends from ferry.imports i
     join ferry.import_batches b on b.import_id = i.id where i.status = 'undecided' group by i.id`,
  )
  expect(undecided.rows.length).toBeGreaterThan(0)
  expect(undecided.rows.filter(row => !held.includes(BigInt(row.id)) || row.resends > 0)).toEqual([])

  chaos.sandbox.state.onCall(null)
  for (const { id } of undecided.rows) await resolveUncertain(chaos.pool, BigInt(id), 'resend', ADA)
  await chaos.allEnded()
  const { wrong, ...counts } = await chaos.verdict()
  report({ seed: SEED, workers: 2, faults, undecided: undecided.rows.length, ...counts })
  expect(wrong).toEqual([])
  const ended = await listSummaryRows(chaos.pool, 99)
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['completed']))
})

function someFault(random: Random): FaultInput {
  const applied = random() < 0.5
  return pick<FaultInput>(random, [
    { kind: 'error', code: 'InternalError', applied },
    { kind: 'error', code: 'ServiceUnavailable' },
    { kind: 'error', code: 'RequestLocked' },
    { kind: 'drop', applied },
    { kind: 'hang', applied },
    { kind: 'html', applied },
    { kind: 'truncate' },
    { kind: 'late', ms: 2_000 },
    { kind: 'empty' },
  ])
}
