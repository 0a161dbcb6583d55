import { expect, test } from 'vitest'
import { type McpReading, readMcpServers } from '#src/platform/mcp-listing.ts'
import { openMcpList, server } from '../support/mcp-list.ts'

const context = { runId: null, signal: new AbortController().signal }
const ask = { limit: 2, includeAccount: true }
const known =
  (...ids: string[]) =>
  (set: ReadonlySet<string>) =>
    set.symmetricDifference(new Set(ids)).size === 0
const nothingKnown = () => false

const names = (count: number) => Array.from({ length: count }, (_, n) => `s${n + 1}`)
const idsOf = (reading: McpReading) =>
  reading.status === 'refused' ? null : reading.listing.rows.map(row => row.server_id)

test('pages go by the size the platform really uses, not the one asked for', async () => {
  const list = openMcpList(names(50), { maxPerPage: 20 })
  const reading = await readMcpServers(list, { ...ask, limit: 100 }, known(...names(50)), context)
  expect(idsOf(reading)).toEqual(names(50))
  expect(list.asked).toEqual([
    { page: 1, limit: 100 },
    { page: 2, limit: 20 },
    { page: 3, limit: 20 },
  ])
})

test('pages after the first are asked for side by side', async () => {
  const waiting: (() => void)[] = []
  const list = openMcpList(names(20))
  const reading = readMcpServers(
    {
      async listMcpPage(page, call) {
        if (page.page > 1) {
          const { promise, resolve } = Promise.withResolvers<void>()
          if (waiting.push(resolve) >= 9) for (const go of waiting) go()
          await promise
        }
        return list.listMcpPage(page, call)
      },
    },
    ask,
    known(...names(20)),
    context,
  )
  expect(idsOf(await reading)).toEqual(names(20))
})

test('a later pass asks for all its pages at once, with the page size that the first found, but only after the first', async () => {
  const waiting: (() => void)[] = []
  const list = openMcpList(names(9), { maxPerPage: 2 })
  const reading = readMcpServers(
    {
      async listMcpPage(asked, call) {
        const { promise, resolve } = Promise.withResolvers<void>()
        waiting.push(resolve)
        await promise
        return list.listMcpPage(asked, call)
      },
    },
    { ...ask, limit: 100 },
    nothingKnown,
    context,
  )
  /** Waits until exactly `count` calls are under way, and answers all of them but those kept. */
  async function answer(count: number, kept = 0): Promise<void> {
    await expect.poll(() => waiting.length, { interval: 1 }).toBe(count)
    await new Promise(setImmediate)
    expect(waiting).toHaveLength(count)
    for (const go of waiting.splice(kept)) go()
  }
  await answer(1)
  await answer(4, 1)
  await answer(1)
  await answer(5)
  expect(idsOf(await reading)).toEqual(names(9))
  const first = [1, 2, 3, 4, 5].map(page => ({ page, limit: page === 1 ? 100 : 2 }))
  const second = [1, 2, 3, 4, 5].map(page => ({ page, limit: 2 }))
  expect(list.asked.slice(0, 5)).toEqual(expect.arrayContaining(first))
  expect(list.asked.slice(5)).toEqual(second)
})

test('a list of one page is asked for with the same limit in every pass: it may have grown', async () => {
  const list = openMcpList(names(5))
  await readMcpServers(list, { ...ask, limit: 100 }, nothingKnown, context)
  const pass = [
    { page: 1, limit: 100 },
    { page: 2, limit: 5 },
  ]
  expect(list.asked).toEqual([...pass, ...pass])
})

test('a page that came with fewer servers than the pass before found is short', async () => {
  const list = openMcpList(names(6), {
    total: () => 4,
    before: ({ page }, n) => {
      // From the second pass on, page 1 lacks s2. The total is capped: it does not tell that one is missing.
      if (page !== 1 || n === 1) return undefined
      const data = { total: 4, servers: [server('s1')], mayBeDirty: false }
      return { ok: true, data, requestId: '', requests: 1 }
    },
  })
  const reading = await readMcpServers(list, ask, nothingKnown, context)
  expect(reading).toMatchObject({ status: 'partial', why: 'page 1 was short, and more came after it' })
})

test('pages beyond `total` are read alone, after the others, in every pass: it may be capped, and the last one is the end', async () => {
  const list = openMcpList(names(11), { total: () => 4 })
  const underWay: number[] = []
  const together: number[][] = []
  const reading = await readMcpServers(
    {
      async listMcpPage(asked, call) {
        underWay.push(asked.page)
        await new Promise(setImmediate)
        together.push([...underWay])
        underWay.splice(underWay.indexOf(asked.page), 1)
        return list.listMcpPage(asked, call)
      },
    },
    ask,
    nothingKnown,
    context,
  )
  expect(reading).toMatchObject({ status: 'complete', pages: 12 })
  const alone = [[3], [4], [5], [6]]
  expect(together).toEqual([[1], [2], ...alone, [1, 2], [2], ...alone])
})

test('a platform that pays no heed to the page number is not asked for ever', async () => {
  const list = openMcpList([])
  const always = openMcpList(names(2))
  const reading = await readMcpServers(
    {
      listMcpPage: (asked, call) => {
        list.asked.push(asked)
        return always.listMcpPage({ ...asked, page: 1 }, call)
      },
    },
    ask,
    nothingKnown,
    context,
  )
  expect(reading).toMatchObject({ status: 'partial', why: 'a server came twice' })
  expect(list.asked).toHaveLength(6)
})

test('a total beyond belief does not set off as many calls', async () => {
  const list = openMcpList(names(3), { total: () => Number.MAX_SAFE_INTEGER })
  expect(await readMcpServers(list, ask, nothingKnown, context)).toMatchObject({ status: 'partial' })
  expect(list.asked.length).toBeLessThan(3 * 70)
})
