import { expect, test } from 'vitest'
import { ACCEPTED, LOST, sendBatches, UNAVAILABLE } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { cellsOf } from './cells.ts'
import { BOTH_TOKENS, openConsoleHarness, READ_TOKEN } from './console-harness.ts'

test('shows calls that failed for one cause as one row, with their number, and the first and the last', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 40, batchRows: 2 })
  await sendBatches(pool, id, [...Array.from({ length: 8 }, () => LOST), UNAVAILABLE, ACCEPTED])
  const other = await stageRows(pool, { rows: 2, pageId: 9n, batchRows: 2 })
  await sendBatches(pool, other, [LOST])
  const [times] = await harness.query<{ first: Date; last: Date }>(
    `select min(c.started) as first, max(c.started) as last from ferry.platform_calls c
     join ferry.import_batches b on b.id = c.batch_id where b.import_id = $1 and c.http_status is null`,
    [id],
  )
  const { text } = await harness.page(`/imports/${id}`, READ_TOKEN)
  const shown = (at: Date) => at.toISOString().slice(0, 19).replace('T', ' ')
  expect(cellsOf(text, 'The most frequent first')).toEqual([
    ['NoAnswer', 'no answer', '8', expect.any(String), shown(times!.first), shown(times!.last), '–'],
    ['ServiceUnavailable', '503', '1', '1', expect.any(String), expect.any(String), expect.any(String)],
  ])
  const well = await stageRows(pool, { rows: 2, pageId: 10n, batchRows: 2 })
  await sendBatches(pool, well, [ACCEPTED])
  expect((await harness.page(`/imports/${well}`, READ_TOKEN)).text).not.toContain('Failed calls, by cause')
})

test('what cannot be undone looks so', async () => {
  await using harness = await openConsoleHarness()
  const id = await stageRows(harness.ferry.pool, { status: 'running' })
  const { text } = await harness.page(`/imports/${id}`)
  expect(text).toContain(`<a class="button danger" href="/imports/${id}/cancel">Cancel</a>`)
  expect(text).toContain(`<a class="button" href="/imports/${id}/pause">Pause</a>`)
})
