import { expect, test } from 'vitest'
import { sendAll } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { fillWorkingDays } from '#test/support/working-days.ts'
import { openConsoleHarness } from './console-harness.ts'
import { walk } from './walk.ts'

/* No page is left out: whoever opens the console comes to every page, decision and question by links alone. */

/** The working days have fewer imports, schedules and holds than this. */
const ALIKE = 12

test('links lead from the first page to every page, decision and question, and none of them is broken', async () => {
  await using harness = await openConsoleHarness({}, { rules: 60, servers: 12 })
  await fillWorkingDays(harness)
  const { pool } = harness.ferry
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
    'Cancel',
    'Mark uncertain rows as delivered',
  ]
  expect([...words]).toEqual(expect.arrayContaining(offered))
})

test('before anything was read, no link is broken either', async () => {
  await using harness = await openConsoleHarness()
  expect((await walk(harness.page, ALIKE)).broken).toEqual([])
})

/** The words of the links that look like buttons. */
function decisionsIn(text: string): string[] {
  return [...text.matchAll(/<a class="button" href="\/[^"]*">([^<]+)</g)].map(([, words = '']) => words)
}
