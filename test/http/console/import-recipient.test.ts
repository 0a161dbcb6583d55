import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { purgeImport } from '#src/imports/control/purge.ts'
import { listRecipients } from '#src/imports/reporting/recipients.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ACCEPTED, BAD_ROWS, LOST, sendAll, sendBatches } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { cellsOf, textOf } from './cells.ts'
import {
  BOTH_TOKENS,
  bearing,
  hiddenFields,
  OPERATE_TOKEN,
  openConsoleHarness,
  READ_TOKEN,
  refusedWays,
  sendForm,
} from './console-harness.ts'

/** Whoever reads this address somewhere has found a leak. */
const CANARY = 'canary.3141592@example.com'
const MASKED = 'Rows of c…@example.com'

const recipient = (line: number) => (line === 3 ? CANARY : `p${line}@example.com`)

test('the outcome of one recipient is shown to who may operate, whatever the case', async () => {
  await using harness = await openConsoleHarness()
  const id = await stageRows(harness.ferry.pool, { rows: 6, batchRows: 2, recipient, onUncertain: 'hold' })
  await sendBatches(harness.ferry.pool, id, [ACCEPTED, LOST])
  const path = `/imports/${id}/recipient`
  const found = async (written: string) => (await harness.submit(path, { recipient: written })).text
  const [, calls = ''] = /href="([^"]+)">(?:<bdi>)?req-1/.exec(await found(CANARY)) ?? []
  expect((await harness.page(calls)).status).toBe(200)
  expect(
    cellsOf(await found(` ${CANARY.toUpperCase()} `), MASKED.replace('c…@example.com', 'C…@EXAMPLE.COM')),
  ).toEqual([['3', 'sent', '–', expect.stringMatching(/^\d+$/), '0', expect.stringMatching(/^20/), 'req-1']])
  expect(cellsOf(await found('p5@example.com'), 'Rows of p…@example.com')[0]?.[1]).toBe('uncertain')
  expect(cellsOf(await found('p7@example.com'), 'Rows of p…@example.com')[0]?.[1]).toBe('pending')
  expect(textOf(await found('nobody@example.com'))).toContain(`Import ${id} has no row of that recipient.`)
})

test('a recipient whose call got no answer is uncertain, also if it is sent again by itself', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 4, batchRows: 2, recipient })
  await sendBatches(pool, id, [LOST])
  expect(await loadSummary(pool, id)).toMatchObject({ uncertain: 2, pending: 2 })
  const states: unknown[] = []
  for await (const page of listRecipients(pool, id)) states.push(...page.map(({ state }) => state))
  expect(states).toEqual(['uncertain', 'uncertain', 'pending', 'pending'])
})

test('a row that was refused alone is still to be sent', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 1, recipient })
  await sendBatches(pool, id, [BAD_ROWS])
  for await (const page of listRecipients(pool, id)) expect(page).toMatchObject([{ state: 'pending' }])
})

test('a row that is in no batch yet has no number of times it was sent again', async () => {
  await using harness = await openConsoleHarness()
  const id = await stageRows(harness.ferry.pool, { rows: 1, recipient: () => CANARY, status: 'staging' })
  const { text } = await harness.submit(`/imports/${id}/recipient`, { recipient: CANARY })
  expect(cellsOf(text, MASKED)).toEqual([['2', 'pending', '–', '–', '–', '–', '–']])
})

test('the address is in no URL, no log, and no page, the answer included', async () => {
  let log = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log += chunk
      done()
    },
  })
  await using harness = await openConsoleHarness({
    tokens: BOTH_TOKENS,
    log: pino({ level: 'trace' }, stream),
  })
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 6, batchRows: 2, recipient, onUncertain: 'hold' })
  await sendBatches(pool, id, [ACCEPTED, LOST])
  await pool.query(
    `insert into ferry.import_rejects (import_id, line, origin, reason, message, raw) values ($1, 99, 'file', 'no address', 'a message', $2)`,
    [id, CANARY],
  )
  await pool.query('update ferry.imports set read = read + 1, rejected = 1 where id = $1', [id])
  const path = `/imports/${id}/recipient`
  const answered = await harness.submit(path, { recipient: CANARY }, OPERATE_TOKEN)
  expect(cellsOf(answered.text, MASKED).map(cells => cells[2])).toEqual(['–', 'no address: a message'])
  const pages = [answered]
  for (const page of [
    '',
    `/${id}`,
    `/${id}?batches=unsent`,
    `/${id}/cancel`,
    `/${id}/recipient`,
    `/${id}/resolve/sent`,
  ]) {
    for (const token of [READ_TOKEN, OPERATE_TOKEN]) pages.push(await harness.page(`/imports${page}`, token))
  }
  // What fails says nothing of it either.
  await pool.query('alter table ferry.import_recipients rename to gone')
  pages.push(await harness.submit(path, { recipient: CANARY }, OPERATE_TOKEN))
  expect(pages.at(-1)?.status).toBe(503)
  expect(log).toContain('A page of the console failed.')
  for (const { text, headers } of pages) {
    expect(JSON.stringify([text, headers]).toLowerCase()).not.toMatch(/canary|3141592/)
  }
  expect(log.toLowerCase()).not.toMatch(/canary|3141592/)
})

test('the form is refused to the read token, to another site, and without its token', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const id = await stageRows(harness.ferry.pool, { rows: 2, recipient })
  const path = `/imports/${id}/recipient`
  const url = harness.http.address + path
  const form = await harness.page(path, OPERATE_TOKEN)
  expect(form.text).toContain('<form class="confirmation" method="post"')
  expect((await harness.page(path, READ_TOKEN)).status).toBe(403)
  const fields = { ...hiddenFields(form.text), recipient: CANARY }
  const other = hiddenFields((await harness.page(`/imports/${id}/cancel`, OPERATE_TOKEN)).text)
  for (const { sent, headers } of refusedWays(fields, other)) {
    const answered = await sendForm(url, sent, headers)
    expect(answered.status).toBe(403)
    expect(answered.text).not.toContain('Rows of')
  }
  expect((await sendForm(url, fields, bearing(OPERATE_TOKEN))).status).toBe(200)
})

test('a question without a recipient, or about an import that is not there, is answered in words', async () => {
  await using harness = await openConsoleHarness()
  const id = await stageRows(harness.ferry.pool, { rows: 2 })
  const path = `/imports/${id}/recipient`
  for (const wrong of ['', '  ', 'a\0b@example.com', 'x'.repeat(2_001)]) {
    const { status, text } = await harness.submit(path, { recipient: wrong })
    expect(status).toBe(400)
    expect(textOf(text)).toContain('recipient: is')
  }
  expect((await harness.page('/imports/999/recipient')).status).toBe(404)
  // An address in the URL is not read: a link cannot ask.
  const { text } = await harness.page(`${path}?recipient=p2%40example.com`)
  expect(text).not.toContain('Rows of')
})

test('of a purged import, who was sent is still found', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 2, recipient })
  await sendAll(pool, id)
  await purgeImport(pool, id, ADA)
  const { text } = await harness.submit(`/imports/${id}/recipient`, { recipient: CANARY })
  expect(cellsOf(text, MASKED)[0]?.[1]).toBe('sent')
  const nobody = await harness.submit(`/imports/${id}/recipient`, { recipient: 'nobody@example.com' })
  expect(textOf(nobody.text)).toContain(
    'it was purged, so the rows that were rejected from its file cannot be searched',
  )
  expect(textOf((await harness.page(`/imports/${id}`)).text)).toContain('Its recipients were purged')
})
