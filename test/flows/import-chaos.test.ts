import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { between, pick, type Random, seededRandom } from '#src/sandbox/random.ts'
import { openTestDatabase } from '#test/support/database.ts'
import { type Chaos, go, kill, openChaos, report } from '#test/support/import-chaos.ts'

const SEED = Number(process.env.FERRY_TEST_SEED ?? 1)
const KILLS = 50

/** A worker on a busy machine takes seconds to begin. */
const CALLS_WITHIN_MS = 20_000

/*
 * A killed worker's imports wait until its lease is out, so there are many at once, each on a page of its own: the next
 * worker, ready in advance, finds others to do. All the while they are replenished, so that no kill is wasted.
 */
const UNFINISHED = 40

/** Seldom waited for: a dead worker's imports keep their turn for two seconds, and a kill is to meet work. */
const LOOSE = [
  { most: 40, ms: 200 },
  { most: 400, ms: 2_000 },
]

test('a worker killed at fifty random points loses nobody and sends nobody twice without saying so', {
  timeout: 900_000,
}, async () => {
  const random = seededRandom(SEED)
  await using database = await openTestDatabase()
  await using chaos = await openChaos(database.url, { windows: LOOSE })
  for (let staged = 0; staged < UNFINISHED; staged++) await chaos.stage()

  const places = { waiting: 0, asked: 0, delivered: 0 }
  let ready = chaos.startWorker()
  for (let killed = 0; killed < KILLS; killed++) {
    const worker = await ready
    ready = chaos.startWorker()
    go(worker)
    places[await killAtSomePoint(chaos, worker, random)] += 1
    for (let n = await chaos.unfinished(); n < UNFINISHED && killed < KILLS - 10; n++) await chaos.stage()
  }
  expect(await chaos.unfinished()).toBeGreaterThan(0)
  go(await ready)
  await chaos.allEnded()

  const { wrong, ...counts } = await chaos.verdict()
  report({ seed: SEED, kills: KILLS, ...places, ...counts })
  expect(wrong).toEqual([])
  expect(Math.min(...Object.values(places))).toBeGreaterThan(0)
  expect(counts.deliveries).toBeGreaterThanOrEqual(counts.recipients)
  expect(counts.deliveredAgain).toBeGreaterThan(0)
  expect(counts.looks).toBeGreaterThan(20)
})

/** Whatever comes first: some time is over, or the platform receives the n-th call from now on. */
async function killAtSomePoint(chaos: Chaos, worker: ChildProcess, random: Random) {
  const afterMs = between(random, 100, 700)
  const atCall = between(random, 1, 8)
  const kind = pick(random, ['waiting', 'asked', 'delivered'] as const)
  const called = Promise.withResolvers<'asked' | 'delivered'>()
  let calls = 0
  chaos.sandbox.state.onCall(async ({ operation }) => {
    if (operation !== 'import-subscribers' || kind === 'waiting' || ++calls !== atCall) return undefined
    await kill(worker)
    called.resolve(kind)
    // Whoever asked is dead: what was asked is done, or lost on the way.
    return kind === 'asked' ? { kind: 'drop', applied: false } : undefined
  })
  const late = kind === 'waiting' ? afterMs : CALLS_WITHIN_MS
  const point = await Promise.race([called.promise, delay(late, 'waiting' as const)])
  await kill(worker)
  chaos.sandbox.state.onCall(null)
  return point
}
