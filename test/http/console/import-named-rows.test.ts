import { expect, test } from 'vitest'
import { cancelImport, pauseImport } from '#src/imports/control/decide.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { ADA } from '#test/support/acted-by.ts'
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

test.for([
  ['running', ''],
  ['paused', ' This import is paused: they are sent once it is resumed.'],
  ['cancelled', ' This import is cancelled: importing the file again sends them.'],
] as const)(
  'sending the uncertain rows of an import that is %s again says when they are sent',
  async ([status, when]) => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await stageRows(pool, { rows: 4, batchRows: 1, onUncertain: 'hold' })
    await sendBatches(pool, id, [LOST])
    if (status === 'paused') await pauseImport(pool, id, ADA)
    if (status === 'cancelled') await cancelImport(pool, id, ADA)
    const page = textOf((await harness.page(`/imports/${id}/resolve/resend`)).text)
    expect(page).toContain(
      `Do this if the platform does not have it, or if sending it twice does no harm. 1 row will be sent again.${when} People who are already`,
    )
    const sent = textOf((await harness.page(`/imports/${id}/resolve/sent`)).text)
    expect(sent).toContain(
      'This records that the platform has it. 1 row counts as sent, and is not sent again.',
    )
    expect(sent).toContain(
      `Import ${id} got no definite answer to the call for batch 1, which has line 2 of the file.`,
    )
  },
)
