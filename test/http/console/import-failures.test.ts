import { expect, test } from 'vitest'
import { cancelImport, pauseImport } from '#src/imports/control/decide.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ACCEPTED, LOST, refused, sendAll, sendBatches, UNAVAILABLE } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { cellsOf, textOf } from './cells.ts'
import { BOTH_TOKENS, openConsoleHarness, READ_TOKEN } from './console-harness.ts'

test('shows calls that failed for one cause as one row, with their number, and the first and the last', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 40, batchRows: 2 })
  const last = refused(503, 'ServiceUnavailable', { requestId: 'req-9' })
  await sendBatches(pool, id, [...Array.from({ length: 7 }, () => LOST), UNAVAILABLE, last, ACCEPTED])
  const other = await stageRows(pool, { rows: 2, pageId: 9n, batchRows: 2 })
  await sendBatches(pool, other, [LOST])
  // One call an hour.
  await pool.query(`
    update ferry.imports set started_at = '2026-01-01Z';
    update ferry.platform_calls c set started = timestamptz '2026-01-01Z' + n * interval '1 hour'
    from (select id, row_number() over (order by id) as n from ferry.platform_calls) o where o.id = c.id`)
  const { text } = await harness.page(`/imports/${id}`, READ_TOKEN)
  expect(cellsOf(text, 'The most frequent first')).toEqual([
    ['NoAnswer', 'no answer', '7', '2', '2026-01-01 01:00:00', '2026-01-01 07:00:00', '–'],
    ['ServiceUnavailable', '503', '2', '1', '2026-01-01 08:00:00', '2026-01-01 09:00:00', 'req-9'],
  ])
  const well = await stageRows(pool, { rows: 2, pageId: 10n, batchRows: 2 })
  await sendBatches(pool, well, [ACCEPTED])
  expect((await harness.page(`/imports/${well}`, READ_TOKEN)).text).not.toContain('Failed calls, by cause')
})

test('what cannot be undone looks so', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 4, batchRows: 2 })
  const [lost] = await sendBatches(pool, id, [LOST])
  const { text } = await harness.page(`/imports/${id}`)
  expect(text).toContain(`<a class="button danger" href="/imports/${id}/resolve/sent">Mark uncertain`)
  expect(text).toContain(`<a class="button" href="/imports/${id}/resolve/resend">Send uncertain`)
  expect(text).toContain(`<a class="danger" href="/imports/${id}/batches/${lost}/sent">mark as sent</a>`)
  expect(text).toContain(`<a href="/imports/${id}/batches/${lost}/resend">send again</a>`)
  expect(text).toContain(`<a class="button danger" href="/imports/${id}/cancel">Cancel import ${id}</a>`)
  expect(text).toContain(`<a class="button" href="/imports/${id}/pause">Pause</a>`)
})

test('the confirmation of a cancellation says nothing of rows and calls that there are not', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 2, batchRows: 2, onUncertain: 'hold' })
  await sendBatches(pool, id, [LOST])
  await sendAll(pool, id)
  const text = textOf((await harness.page(`/imports/${id}/cancel`)).text)
  expect(text).toContain('The import ends. A cancelled import cannot be resumed.')
  for (const words of ['0 rows', 'No rows', 'were sent, and stay', 'Calls in flight']) {
    expect(text).not.toContain(words)
  }
})

test('a confirmation leads back with the same word whatever it is about, and only a button that ends an import says so', async () => {
  await using harness = await openConsoleHarness()
  const id = await stageRows(harness.ferry.pool, { rows: 4, batchRows: 2, onUncertain: 'hold' })
  await sendBatches(harness.ferry.pool, id, [LOST])
  await pauseImport(harness.ferry.pool, id, ADA)
  for (const decision of ['resume', 'cancel', 'resolve/sent']) {
    const { text } = await harness.page(`/imports/${id}/${decision}`)
    expect(text).toContain(`<a class="button" href="/imports/${id}">Back</a>`)
    expect(text).not.toContain('>Cancel<')
  }
})

test('batches count as sent once they were, not while their outcome is unknown', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 8, batchRows: 2, onUncertain: 'hold' })
  await sendBatches(pool, id, [LOST, ACCEPTED])
  const sent = async () => textOf((await harness.page(`/imports/${id}`)).text)
  expect(await sent()).toContain('Batches sent1 of 4')
  await cancelImport(pool, id, ADA)
  expect(await sent()).toContain('Batches sent1 of 2')
})

test('a batch is to be resent if the platform may have it, not if it was refused for certain', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 2, batchRows: 2, onUncertain: 'resend' })
  const state = async () =>
    cellsOf((await harness.page(`/imports/${id}`)).text, 'Batches, last lines first').map(cells => cells[3])
  await sendBatches(pool, id, [UNAVAILABLE])
  expect(await state()).toEqual(['ready'])
  await sendBatches(pool, id, [LOST])
  expect(await state()).toEqual(['to be resent'])
})
