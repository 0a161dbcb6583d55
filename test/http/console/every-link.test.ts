import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { sendAll } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { fillWorkingDays } from '#test/support/working-days.ts'
import { openConsoleHarness } from './console-harness.ts'
import { walk } from './walk.ts'

/* No page is left out: whoever opens the console comes to every page, decision and question by links alone. */

/** The working days have fewer imports, schedules and holds than this. */
const ALIKE = 12

test('links lead from the first page to every page, decision and question, and none of them is broken', async () => {
  const { notify } = readConfig({ FERRY_WEBHOOK_URL: 'http://127.0.0.1:1/' })
  await using harness = await openConsoleHarness({ config: { notify } }, { rules: 60, servers: 12 })
  await fillWorkingDays(harness)
  const { pool } = harness.ferry
  await pool.query(
    `insert into ferry.deliveries (event, receiver, kind, account, subject, data, at, attempts, failure, retry_at)
     select id, 'webhook', kind, account, subject, data, clock_timestamp() - interval '2 days', 9, 'HTTP 500', clock_timestamp()
     from ferry.events order by id limit 1`,
  )
  const approved = await stageRows(pool, { rows: 20, firstRows: 5, batchRows: 5, pageId: 99n })
  await sendAll(pool, approved)
  const words = new Set<string>()
  const { unreached, broken } = await walk(async address => {
    const answered = await harness.page(address)
    for (const decision of decisionsIn(answered.text)) words.add(decision)
    return answered
  }, ALIKE)
  expect({ unreached, broken }).toEqual({ unreached: [], broken: [] })
  const offered = [
    'Confirm',
    'Pause',
    'Resume',
    'Approve the rest',
    'Mark uncertain rows as sent',
    expect.stringMatching(/^Cancel import \d+$/),
  ]
  expect([...words]).toEqual(expect.arrayContaining(offered))
})

test('before anything was read, no link is broken either', async () => {
  await using harness = await openConsoleHarness()
  expect((await walk(harness.page, ALIKE)).broken).toEqual([])
})

/** The words of the links that look like buttons. */
function decisionsIn(text: string): string[] {
  return [...text.matchAll(/<a class="button[^"]*" href="\/[^"]*">([^<]+)</g)].map(([, words = '']) => words)
}
