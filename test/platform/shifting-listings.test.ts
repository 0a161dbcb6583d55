import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readServers } from '#test/support/mcp-list.ts'
import { openMcpList, server } from '../support/mcp-list.ts'

/*
 * The law of complete listings, over shifting ones: a server that was there throughout a reading is never missing
 * from one called complete. A server deleted gets a new id if it comes back, as on the platform.
 */

const scenario = fc.record({
  seed: fc.integer(),
  rows: fc.integer({ min: 0, max: 30 }),
  limit: fc.integer({ min: 1, max: 12 }),
  maxPerPage: fc.integer({ min: 1, max: 12 }),
  /** How likely the list changes before an answer, in each of the three passes. */
  unrest: fc.array(fc.constantFrom(0, 0.03, 0.1, 0.4), { minLength: 3, maxLength: 3 }),
  /** Changes between what is known and the reading. */
  changesBefore: fc.integer({ min: 0, max: 2 }),
  isFrozen: fc.boolean(),
})

test('no server that was there throughout is missing from a complete reading, which ends after three passes', async () => {
  const seen = { complete: 0, partial: 0, hidden: 0 }
  await fc.assert(
    fc.asyncProperty(scenario, async given => {
      const { reading, throughout, passes, hidden } = await readShifting({ ...given, isFrozen: false })
      expect(passes).toBeLessThanOrEqual(3)
      expect(reading.status).not.toBe('refused')
      if (reading.status === 'complete') {
        const listed = new Set(reading.good.map(({ id }) => id))
        expect([...throughout.difference(listed)]).toEqual([])
      }
      if (reading.status !== 'refused') seen[reading.status] += 1
      if (hidden) seen.hidden += 1
    }),
    { numRuns: 4_000 },
  )
  // The test must have met what it is about.
  expect(seen.complete).toBeGreaterThan(500)
  expect(seen.partial).toBeGreaterThan(500)
  expect(seen.hidden).toBeGreaterThan(20)
})

test('a list that keeps still is complete in two passes, whatever its total says', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async given => {
      const { reading, throughout, passes } = await readShifting({ ...given, unrest: [0, 0, 0] })
      expect(reading.status).toBe('complete')
      expect(reading.good).toHaveLength(throughout.size)
      expect(passes).toBeLessThanOrEqual(2)
    }),
    { numRuns: 1_000 },
  )
})

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never

async function readShifting(given: Scenario) {
  const random = mulberry32(given.seed)
  const below = (n: number) => Math.floor(random() * n)
  let made = 0
  const fresh = () => {
    made += 1
    return server(`s${made}`)
  }
  const rows = Array.from({ length: given.rows }, fresh)
  const deleted = new Set<string>()

  const insert = () => rows.splice(below(rows.length + 1), 0, fresh())
  const remove = () => {
    for (const { server_id } of rows.splice(below(rows.length), 1)) deleted.add(server_id)
  }
  const move = () => rows.splice(below(rows.length + 1), 0, ...rows.splice(below(rows.length), 1))
  /** Leaves the total as it is: only such changes can hide a server without a trace. */
  const replace = () => {
    remove()
    insert()
  }
  const changes = [insert, remove, move, replace, replace]
  const change = () => changes[below(changes.length)]?.()

  const known = new Set(rows.map(row => row.server_id))
  for (let n = 0; n < given.changesBefore; n += 1) change()
  deleted.clear()
  const atStart = rows.map(row => row.server_id)

  let passes = 0
  let read = new Set<string>()
  let hidden = false
  const list = openMcpList([], {
    maxPerPage: given.maxPerPage,
    total: all => (given.isFrozen ? Math.min(all.length, 5) : all.length),
    before: ({ page }) => {
      if (page === 1) {
        passes += 1
        read = new Set()
      }
      if (random() < (given.unrest[passes - 1] ?? 0)) change()
      list.rows = rows
      const size = Math.min(given.limit, given.maxPerPage)
      for (const row of rows.slice((page - 1) * size, page * size)) read.add(row.server_id)
      // As many distinct ones as there are, and yet one of those that are there is not among them.
      hidden ||=
        read.size === rows.length &&
        rows.some(row => !read.has(row.server_id) && atStart.includes(row.server_id))
    },
  })

  // Calls under way are answered one by one, in any order.
  const waiting: (() => void)[] = []
  const answerOne = () => waiting.splice(below(waiting.length), 1)[0]?.()
  const reading = await readServers(
    {
      async listMcpPage(ask, call) {
        await new Promise<void>(resolve => {
          waiting.push(resolve)
          setImmediate(answerOne)
        })
        return list.listMcpPage(ask, call)
      },
    },
    { limit: given.limit, includeAccount: true },
    ids => ids.symmetricDifference(known).size === 0,
    { runId: null, signal: new AbortController().signal },
  )
  const throughout = new Set(atStart.filter(id => !deleted.has(id)))
  return { reading, throughout, passes, hidden }
}

function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
