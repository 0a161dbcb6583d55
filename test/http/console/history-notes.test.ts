import { expect, test } from 'vitest'
import { addRun } from '#test/support/runs.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { openConsoleHarness } from './console-harness.ts'

const NOTE = 'The history starts at'

/** Pages that look farther back than ten days, and that look back less. */
const FARTHER = [
  '/changes',
  '/changes/editors',
  '/mcp/changes',
  '/rules/a/1',
  '/servers/a/1',
  '/firing?hours=720',
  '/firing/when',
  '/firing/silenced?hours=720',
  '/firing/never',
  '/ledger/snapshots',
]

const LESS = [
  '/changes?since=9d',
  '/changes/editors?period=7d',
  '/mcp/changes?since=9d',
  '/firing',
  '/firing/when?hours=168',
  '/firing/silenced',
  '/firing/noisy',
  '/rules',
  '/',
]

test('pages that look farther back than the history say where it starts, and no others', async () => {
  await using harness = await openConsoleHarness()
  await insertRuleVersion(harness.ferry.pool, { id: '1', name: 'one', from: '2026-01-01' })
  await insertServerVersion(harness.ferry.pool, { id: '1', name: 'one', from: '2026-01-01' })
  const notes = async (paths: readonly string[]) => {
    const pages = await Promise.all(paths.map(async path => ({ path, ...(await harness.page(path)) })))
    expect(pages.filter(({ status }) => status !== 200)).toEqual([])
    return pages.filter(({ text }) => text.includes(NOTE)).map(({ path }) => path)
  }
  expect(await notes(FARTHER)).toEqual([])
  await harness.query(`insert into ferry.history (starts_at) values (now() - interval '10 days')`)
  expect(await notes(FARTHER)).toEqual(FARTHER)
  expect(await notes(LESS)).toEqual([])
  await harness.query(`update ferry.history set starts_at = now() - interval '5 days'`)
  expect(await notes(['/firing/noisy'])).toEqual(['/firing/noisy'])
})

test('that nothing has been read is said only where nothing ever was', async () => {
  await using harness = await openConsoleHarness({}, { rules: 0, servers: 0 })
  const UNREAD = 'Nothing has been read yet'
  expect((await harness.page('/changes')).text).toContain(UNREAD)
  await harness.sync()
  await harness.query(`insert into ferry.history (starts_at) values (now() + interval '1 s')`)
  const { text } = await harness.page('/changes')
  expect(text).toContain('No change is known.')
  expect(text).not.toContain(UNREAD)
  expect(text).toContain(NOTE)
})

test('each page of rules that never fired says where the history starts', async () => {
  await using harness = await openConsoleHarness()
  for (let id = 1; id <= 150; id++)
    await insertRuleVersion(harness.ferry.pool, { id: `${id}`, name: `${id}`, from: '2026-01-01' })
  await harness.query(`insert into ferry.history (starts_at) values (now() - interval '10 days')`)
  const { text } = await harness.page('/firing/never')
  expect(text).toContain('after=')
  expect(text).toContain(NOTE)
})

test('a moment of which nothing is known says if the runs of that time were removed', async () => {
  await using harness = await openConsoleHarness()
  const note = async () =>
    (await harness.page(`/at/${new Date(Date.now() - 7_200_000).toISOString()}`)).text.includes(
      'FERRY_KEEP_RUNS',
    )
  await addRun(harness.ferry.pool)
  expect(await note()).toBe(false)
  await harness.query(`insert into ferry.history values (true, '-infinity', now() - interval '4 hours')`)
  expect(await note()).toBe(false)
  await harness.query(`update ferry.history set runs_start_at = now() - interval '2 hours'`)
  expect(await note()).toBe(true)
})
