import { expect, test } from 'vitest'
import { DAY, HOUR, minutesAgo } from '#test/reports/ask.ts'
import { insertRuleVersion } from '#test/support/versions.ts'
import { cellsOf } from './cells.ts'
import { openConsoleHarness } from './console-harness.ts'

test('people are shown by their edits, of a period, an account and a folder, and lead to what they changed', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const edits = async (
    rule: { id: string; account?: string; folder?: number },
    ...by: [number, string][]
  ) => {
    let from = minutesAgo(60 * DAY)
    for (const [n, [at, person]] of [[60 * DAY, 'Nobody'] as const, ...by].entries()) {
      from = minutesAgo(at)
      const to = by[n] && minutesAgo(by[n][0])
      await insertRuleVersion(pool, { ...rule, name: `r${n}`, by: person, from, to })
    }
  }
  await edits({ id: '1' }, [40 * DAY, 'Joan'], [20 * DAY, 'Ada Lo'], [5 * DAY, 'Ada Lo'], [HOUR, 'Grace'])
  await edits({ id: '2', folder: 7 }, [3 * DAY, 'Ada Lo'])
  await edits({ id: '1', account: 'b' }, [2 * DAY, 'Grace'])
  const rowsOf = async (query: string) =>
    cellsOf((await harness.page(`/changes/editors${query}`)).text, 'People by number of edits')
  const ada = (edits: string, folders: string) => ['Ada Lo', 'a', edits, folders, '3 d ago']
  const graceA = ['Grace', 'a', '1', '1', '1 h ago']
  const graceB = ['Grace', 'b', '1', '1', '2 d ago']
  expect(await rowsOf('')).toEqual([ada('3', '2'), graceA, graceB])
  expect(await rowsOf('?period=7d&folder=7')).toEqual([ada('1', '1')])
  expect(await rowsOf('?account=b')).toEqual([graceB])
  expect(await rowsOf('?period=24h')).toEqual([graceA])
  const { text } = await harness.page('/changes/editors?period=7d&folder=7')
  expect(text).toContain('href="/changes?by=Ada+Lo&amp;account=a&amp;folder=7&amp;since=7d"')
  expect(await harness.page('/changes/editors?period=90d')).toMatchObject({ status: 400 })
})

test('a name leads to its changes as long as it can be filtered by', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const [longest, tooLong] = ['x'.repeat(500), 'y'.repeat(501)]
  for (const [n, by] of [longest, tooLong, ' '].entries()) {
    const rule = { id: `${n + 1}`, name: `r${n}` }
    await insertRuleVersion(pool, { ...rule, by: 'Nobody', from: minutesAgo(60), to: minutesAgo(9) })
    await insertRuleVersion(pool, { ...rule, by, from: minutesAgo(9) })
  }
  for (const path of ['/changes/editors', '/changes', '/rules/a/1', '/rules/a/2', '/rules/a/3']) {
    const { text } = await harness.page(path)
    const people = [...text.matchAll(/[?&;]by=([^&"]*)/g)].map(([, by]) => by)
    expect(
      [...new Set(people)].filter(by => by !== 'Nobody'),
      path,
    ).toEqual(/[23]$/.test(path) ? [] : [longest])
  }
  expect(await harness.page(`/changes?by=${longest}`)).toMatchObject({ status: 200 })
  expect(await harness.page(`/changes?by=${tooLong}`)).toMatchObject({ status: 400 })
})
