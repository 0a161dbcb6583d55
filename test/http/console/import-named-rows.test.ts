import { expect, test } from 'vitest'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { LOST, naming, refused, sendBatches } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { textOf } from './cells.ts'
import { openConsoleHarness } from './console-harness.ts'

test('marking batches as sent says what becomes of the rows that were named', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 5 })
  const named = refused(400, 'BadRequest', { message: 'p3@example.com is not there' })
  await sendBatches(pool, id, [LOST, named, naming('p4@example.com')])
  const page = textOf((await harness.page(`/imports/${id}/resolve/sent`)).text)
  expect(page).toContain(
    '3 rows count as sent, and are not sent again. 2 rows that the platform named as wrong will count as rejected, or be sent alone once more where the answer may have meant the page.',
  )
  expect((await harness.submit(`/imports/${id}/resolve/sent`)).status).toBe(303)
  expect(await loadSummary(pool, id)).toMatchObject({ sent: 3, rejected: 1, pending: 1 })
})
