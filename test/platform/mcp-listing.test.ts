import { expect, test } from 'vitest'
import { refusedByPlatform } from '#src/platform/refusal.ts'
import { mcpPage, openMcpList, readServers, server } from '../support/mcp-list.ts'

const context = { runId: null, signal: new AbortController().signal }
const ask = { limit: 2, includeAccount: true }
const known =
  (...ids: string[]) =>
  (set: ReadonlySet<string>) =>
    set.symmetricDifference(new Set(ids)).size === 0
const nothingKnown = () => false

const names = (count: number) => Array.from({ length: count }, (_, n) => `s${n + 1}`)
const idsOf = ({ good }: Awaited<ReturnType<typeof readServers>>) => good.map(({ id }) => id)
const refused = (code: string, httpStatus: number) => ({
  ok: false as const,
  refusal: refusedByPlatform({ httpStatus, requestId: 'req-x', retryAfterMs: null }, code, ''),
  requests: 1,
})

test('a list with the ids already known is read once, to a short page', async () => {
  const list = openMcpList(names(5))
  const reading = await readServers(list, ask, known(...names(5)), context)
  expect(reading).toMatchObject({ status: 'complete', pages: 3, requests: 3 })
  expect(idsOf(reading)).toEqual(names(5))
})

test('a list that ends with a full page is read on to an empty one', async () => {
  const list = openMcpList(names(4))
  expect(await readServers(list, ask, known(...names(4)), context)).toMatchObject({
    status: 'complete',
    pages: 3,
  })
})

test('a list whose ids are not those known is read a second time', async () => {
  for (const before of [[], names(3), [...names(5), 'gone']]) {
    const list = openMcpList(names(5))
    expect(await readServers(list, ask, known(...before), context)).toMatchObject({
      status: 'complete',
      pages: 6,
    })
  }
})

test('an empty list is a list', async () => {
  expect(await readServers(openMcpList([]), ask, nothingKnown, context)).toMatchObject({
    status: 'complete',
    pages: 2,
    good: [],
  })
})

test('pages go by the size the platform really uses, not the one asked for', async () => {
  const list = openMcpList(names(50), { maxPerPage: 20 })
  const reading = await readServers(list, { ...ask, limit: 100 }, known(...names(50)), context)
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
  const reading = readServers(
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

test('a frozen total stops nothing, and asks for two readings that agree even if the ids are known', async () => {
  const list = openMcpList(names(11), { total: () => 4 })
  const reading = await readServers(list, ask, known(...names(11)), context)
  expect(reading).toMatchObject({ status: 'complete', pages: 12 })
  expect(idsOf(reading)).toEqual(names(11))
})

test('a platform that counts nothing past the end is understood', async () => {
  const list = openMcpList(names(4), { total: (rows, { page }) => (page === 3 ? 0 : rows.length) })
  expect(await readServers(list, ask, known(...names(4)), context)).toMatchObject({ status: 'complete' })
})

test('a list that shifts is read again until two readings agree', async () => {
  const list = openMcpList(names(6), {
    before: (_asked, n) => {
      if (n === 2) list.rows.shift() // s3 moves to the page already read
    },
  })
  const reading = await readServers(list, ask, nothingKnown, context)
  expect(reading).toMatchObject({ status: 'complete' })
  expect(idsOf(reading)).toEqual(['s2', 's3', 's4', 's5', 's6'])
  expect(list.asked.filter(({ page }) => page === 1)).toHaveLength(3)
})

test('a server that a shift hid without a trace is found by the second reading', async () => {
  const list = openMcpList(names(4), {
    before: (_asked, n) => {
      // Page 1 has s1 and s2; then s1 goes, s3 moves to page 1, and a new one fills the end: total 4 all along.
      if (n === 2) list.rows = [...names(4).slice(1), 'new'].map(server)
    },
  })
  const reading = await readServers(list, ask, known(...names(4)), context)
  expect(idsOf(reading)).toEqual(['s2', 's3', 's4', 'new'])
  expect(reading).toMatchObject({ status: 'complete', pages: 9 })
})

const incomplete: [why: string, Parameters<typeof openMcpList>[1]][] = [
  ['of 9 servers only 5 came', { total: () => 9 }],
  ['the total went from 5 to 6 on the way', { total: (_rows, { page }) => (page === 1 ? 5 : 6) }],
]
test.each(incomplete)('after three readings it is partial: %s', async (why, options) => {
  const list = openMcpList(names(5), options)
  const reading = await readServers(list, ask, known(...names(5)), context)
  expect(reading).toMatchObject({ status: 'partial', why })
  expect(idsOf(reading)).toEqual(names(5))
  expect(list.asked.filter(({ page }) => page === 1)).toHaveLength(3)
})

test('pages of servers whose ids cannot be read are all asked for', async () => {
  const list = openMcpList([], { total: () => 2 })
  list.rows = [1, 2, 3, 4, 5, 6].map(server_id => ({ server_id }))
  const reading = await readServers(list, ask, nothingKnown, context)
  expect(reading).toMatchObject({ status: 'partial', quarantined: { length: 6 } })
})

test('a short page that is not the last makes it partial, and what comes after is still read', async () => {
  const list = openMcpList(names(6), {
    before: ({ page }) =>
      page === 2
        ? {
            ok: true,
            data: mcpPage([server('s3')], 6),
            requestId: '',
            requests: 1,
          }
        : undefined,
  })
  const reading = await readServers(list, ask, nothingKnown, context)
  expect(reading).toMatchObject({ status: 'partial', why: 'page 2 was short, and more came after it' })
  expect(idsOf(reading)).toEqual(['s1', 's2', 's3', 's5', 's6'])
})

test('the same server on two pages makes it partial', async () => {
  const reading = await readServers(openMcpList(['a', 'b', 'b', 'c']), ask, nothingKnown, context)
  expect(reading).toMatchObject({ status: 'partial', why: 'a server came twice' })
  expect(idsOf(reading)).toEqual(['a', 'b', 'b', 'c']) // whoever reads them sets the second one aside
})

test('readings that are whole but never agree are partial', async () => {
  const list = openMcpList(names(4), {
    before: ({ page }, n) => {
      if (page === 1) list.rows = [...names(3), `new-${n}`].map(server)
    },
  })
  const reading = await readServers(list, ask, nothingKnown, context)
  expect(reading).toMatchObject({ status: 'partial', why: 'no two readings had the same servers' })
})

test('a platform that pays no heed to the page number is not asked for ever', async () => {
  const list = openMcpList([])
  const always = openMcpList(names(2))
  const reading = await readServers(
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
  expect(await readServers(list, ask, nothingKnown, context)).toMatchObject({ status: 'partial' })
  expect(list.asked.length).toBeLessThan(3 * 70)
})

test('a page too deep to be had makes it partial at once', async () => {
  const list = openMcpList(names(9), {
    before: ({ page }) => (page >= 3 ? refused('InvalidParameter', 400) : undefined),
  })
  const reading = await readServers(list, ask, nothingKnown, context)
  expect(reading).toMatchObject({ status: 'partial', why: 'the platform refused page 3' })
  expect(idsOf(reading)).toEqual(names(4))
  expect(list.asked.filter(({ page }) => page === 1)).toHaveLength(1)
})

test('a refusal of the first page, or any other of a later one, ends the reading', async () => {
  for (const [at, code, status] of [
    [1, 'InvalidParameter', 400],
    [2, 'NoLicense', 400],
    [4, 'InternalError', 500],
  ] as const) {
    const list = openMcpList(names(9), {
      before: ({ page }) => (page === at ? refused(code, status) : undefined),
    })
    const reading = await readServers(list, ask, nothingKnown, context)
    expect(reading).toMatchObject({ status: 'refused', refusal: { code, requestId: 'req-x' } })
  }
})

test('rows that do not parse count, and are no reason to read again', async () => {
  const list = openMcpList(names(5))
  list.rows[2] = { server_id: 's3', server_name: 3 }
  const reading = await readServers(list, ask, known(...names(5)), context)
  expect(reading).toMatchObject({
    status: 'complete',
    pages: 3,
    quarantined: [{ position: 2, id: 's3' }],
  })
})

test('a row whose id cannot be read makes it partial, without reading again', async () => {
  const list = openMcpList(names(5))
  list.rows[3] = { server_id: null }
  const reading = await readServers(list, ask, nothingKnown, context)
  expect(reading).toMatchObject({ status: 'partial', why: 'a row came whose id cannot be read', pages: 3 })
  expect(idsOf(reading)).toEqual(['s1', 's2', 's3', 's5'])
})

test('a fault of ours ends the reading with that fault', async () => {
  const list = openMcpList(names(9))
  const reading = readServers(
    {
      listMcpPage: (asked, call) =>
        asked.page === 3 ? Promise.reject(new Error('the database is gone')) : list.listMcpPage(asked, call),
    },
    ask,
    nothingKnown,
    context,
  )
  await expect(reading).rejects.toThrow('the database is gone')
})

test('a list that is steadily one short of its total is partial, even if the ids that came are those known', async () => {
  for (const known of [true, false]) {
    const list = openMcpList(names(5), { total: rows => rows.length + 1 })
    expect(await readServers(list, ask, () => known, context)).toMatchObject({
      status: 'partial',
      why: 'of 6 servers only 5 came',
    })
  }
})

test('a reading agrees with one before it only if it has the same servers: not more, not fewer, not others', async () => {
  const changes: readonly ((rows: unknown[]) => unknown)[] = [
    rows => rows.push(server('new')),
    rows => rows.pop(),
    rows => rows.splice(0, 1, server('other')),
  ]
  for (const change of changes) {
    let lists = 0
    const list = openMcpList(names(5), {
      before: ({ page }) => {
        if (page === 1 && ++lists === 2) change(list.rows)
        return undefined
      },
    })
    const reading = await readServers(list, { ...ask, limit: 100 }, nothingKnown, context)
    expect(lists).toBe(3)
    expect(reading).toMatchObject({ status: 'complete' })
    expect(idsOf(reading)).toEqual(list.rows.map(row => (row as { server_id: string }).server_id))
  }
})

test('an undeclared field is noted once with each type that it has, in whatever pages', async () => {
  const [text, number] = ['string', 'number'].map(type => ({ field: 'tier', type }))
  const list = openMcpList(names(3), {
    before: ({ page }) => {
      const servers = list.rows.slice((page - 1) * 2, page * 2)
      const drift = page === 1 ? [number!] : [number!, text!]
      return { ok: true, data: { ...mcpPage(servers, 3), drift }, requestId: `req-${page}`, requests: 1 }
    },
  })
  expect(await readServers(list, ask, known(...names(3)), context)).toMatchObject({ drift: [number, text] })
})
