import { expect, test } from 'vitest'
import { PAGES } from '#src/http/console/pages.ts'
import { csvOf } from '#src/http/console/parts/csv.ts'
import { insertRuleVersion } from '#test/support/versions.ts'
import { ask } from '../http-harness.ts'
import { BOTH_TOKENS, bearing, openConsoleHarness, READ_TOKEN } from './console-harness.ts'
import { hrefsOf } from './page-text.ts'

const FROM = new Date(Date.now() - 600_000)

test('every list leads to all of its rows as CSV, for whoever may read the page and nobody else', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const lists = PAGES.filter(page => page.csv)
  expect(lists.length).toBeGreaterThan(13)
  for (const { path } of lists) {
    const url = `${harness.http.address}${path}.csv`
    const given = await ask(url, { headers: bearing(READ_TOKEN) })
    expect([path, given.status]).toEqual([path, 200])
    expect(given.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(given.headers['content-disposition']).toMatch(/^attachment; filename="[\w-]+\.csv"$/)
    expect((await ask(url)).status, path).toBe(401)
  }
})

test('CSV has the rows of all pages that match, and no cell that a spreadsheet runs', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  await insertRuleVersion(pool, { id: '9007199254740993', name: '=1+1', by: 'say "hi", Eve', from: FROM })
  for (let n = 1; n <= 60; n++) {
    await insertRuleVersion(pool, { id: `${n}`, name: `Rule ${n}`, folder: n % 2, from: FROM })
  }
  const { text } = await harness.page('/rules?folder=1&words=')
  const [link = ''] = hrefsOf(text, '/rules.csv')
  expect(link).toContain('folder=1')
  const lines = (await harness.page(link)).text.split('\r\n')
  expect(lines[0]).toBe('id,name,folder,team,enabled,firing,firing since,unchanged since,updated by,account')
  expect(lines[1]).toBe(`9007199254740993,'=1+1,1,,true,false,,${FROM.toISOString()},"say ""hi"", Eve",a`)
  expect(lines).toHaveLength(1 + 31 + 1)
  expect((await harness.page('/rules.csv?folder=x')).status).toBe(400)
})

test('CSV is read a part at a time, only when it is taken, and ends with an error if the worker stops', async () => {
  const stop = new AbortController()
  const asked: (number | null)[] = []
  const load = async (after: number | null) => {
    asked.push(after)
    const from = after ?? 0
    return { rows: from === 1 ? [] : [{ n: from }], next: from < 4 ? from + 1 : null }
  }
  const whole = await Array.fromAsync(csvOf({ n: row => row.n, none: () => null }, load, stop.signal))
  expect(whole.join('')).toBe('n,none\r\n0,\r\n2,\r\n3,\r\n4,\r\n')
  asked.length = 0
  const nothing = csvOf({ n: () => 0, none: () => null }, async () => ({ rows: [], next: null }), stop.signal)
  expect(await Array.fromAsync(nothing)).toEqual(['n,none\r\n'])
  const parts = csvOf({ n: row => row.n }, load, stop.signal)
  await parts.next()
  expect(asked).toEqual([null])
  stop.abort()
  await expect(parts.next()).rejects.toThrow('aborted')
})
