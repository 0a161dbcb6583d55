import { expect, test } from 'vitest'
import { recordWorker } from '#src/db/workers.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { addRun, ageRuns } from '#test/support/runs.ts'
import { stageRows } from '#test/support/staged.ts'
import { cellsOf } from './cells.ts'
import { openConsoleHarness } from './console-harness.ts'
import { allRight, HOURLY, verdictIn } from './now-page.ts'

/* The page Now, of more than it shows. */

test('workers are all counted, those that are silent are shown, and what is not shown is said', async () => {
  await using harness = await openConsoleHarness()
  await allRight(harness)
  const { pool } = harness.ferry
  const start = (name: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => recordWorker(pool, `${name} ${n}`, null, [])))
  await start('silent', 21)
  await pool.query(
    `update ferry.workers set seen_at = seen_at - interval '2 minutes' where holder ~ 'silent'`,
  )
  await start('alive', 24)
  const { text } = await harness.page('/')
  expect(verdictIn(text)?.[1]).toContain('25 workers are alive')
  const [silent = '', alive = ''] = text.slice(text.indexOf('<caption>Workers')).split('<details')
  expect(cellsOf(silent, 'Workers')).toHaveLength(20)
  expect(silent).toContain('<p>1 more is not shown.</p>')
  expect(alive).toContain('<summary>25 workers alive</summary>')
  expect(cellsOf(alive, 'Workers')).toHaveLength(20)
  expect(alive).toContain('<p>5 more are not shown.</p>')
})

test.for([
  [19, '19 decisions wait', false],
  [20, 'at least 20 decisions wait', true],
] as const)('of %i decisions it says that there may be more: %s', async ([count, words, isMore]) => {
  await using harness = await openConsoleHarness()
  await allRight(harness)
  for (let n = 0; n < count; n += 1)
    await stageRows(harness.ferry.pool, { status: 'paused', pageId: BigInt(n + 1) })
  const { text } = await harness.page('/')
  expect(verdictIn(text)?.[1]?.toLowerCase()).toContain(words)
  expect(cellsOf(text, 'Pending decisions')).toHaveLength(count)
  expect(
    text.includes(
      'There may be more: <a href="/ledger/holds">all holds</a>, <a href="/imports">all imports</a>.',
    ),
  ).toBe(isMore)
})

test.for([
  [19, false],
  [20, true],
] as const)('of %i blind spots it says that there may be earlier ones: %s', async ([count, isMore]) => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const accounts = Array.from({ length: count }, (_, n) => `account-${n}`)
  await saveFreshnessTargets(
    pool,
    accounts.map(account => ({ ...HOURLY, account })),
  )
  for (const account of accounts) await addRun(pool, { account })
  await ageRuns(pool, '2 hours')
  const { text } = await harness.page('/')
  expect(cellsOf(text, 'Blind spots of the last day')).toHaveLength(count)
  expect(text.includes('There may be earlier ones: <code>ferry report blind_spots --since 1d</code>')).toBe(
    isMore,
  )
})
