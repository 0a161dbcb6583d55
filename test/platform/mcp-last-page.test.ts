import { expect, test } from 'vitest'
import { refusedByPlatform } from '#src/platform/refusal.ts'
import { openMcpList, readServers } from '../support/mcp-list.ts'

const context = { runId: null, signal: new AbortController().signal }
const names = (count: number) => Array.from({ length: count }, (_, n) => `s${n + 1}`)

/** A list that refuses each page but the first. */
const onePage = (count: number) =>
  openMcpList(names(count), {
    before: ({ page }) => {
      if (page === 1) return
      const answer = { httpStatus: 400, requestId: 'req-x', retryAfterMs: null }
      return { ok: false, refusal: refusedByPlatform(answer, 'InvalidParameter', ''), requests: 1 }
    },
  })
const read = (count: number, limit: number) =>
  readServers(onePage(count), { limit, includeAccount: true }, () => false, context)

test('a first page that is not full and has all of the total is the list, though the platform refuses another one', async () => {
  const reading = await read(3, 4)
  expect(reading).toMatchObject({ status: 'complete', pages: 2 })
  expect(reading.good.map(({ id }) => id)).toEqual(names(3))
})

test.each([
  ['a full first page', 4, 4],
  ['a total that says more', 5, 4],
  ['a total that may be a bound', 1_000, 2_000],
])('not so with %s', async (_, count, limit) => {
  expect(await read(count, limit)).toMatchObject({ status: 'partial', why: 'the platform refused page 2' })
})
