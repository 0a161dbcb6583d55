import { expect, test } from 'vitest'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { stageRows } from '#test/support/staged.ts'
import { textOf } from './cells.ts'
import { type ConsoleHarness, hiddenFields, openConsoleHarness, sendForm } from './console-harness.ts'

/** An import that runs, and a form to pause it. */
async function setup(harness: ConsoleHarness) {
  const id = await stageRows(harness.ferry.pool, { status: 'running', pageId: 7n })
  const path = `/imports/${id}/pause`
  const fields = hiddenFields((await harness.page(path)).text)
  return { id, path, send: () => sendForm(harness.http.address + path, fields) }
}

test('without a connection to Postgres a decision is not done, and the page says so', async () => {
  await using harness = await openConsoleHarness()
  const { id, path, send } = await setup(harness)
  harness.proxy.stop()
  // A connection that was open may break in the middle of a statement first.
  await expect.poll(async () => textOf((await send()).text)).toContain('so nothing was done.')
  const { status, text } = await send()
  expect(status).toBe(503)
  expect(text).toContain('<h1>Not done</h1>')
  expect(text).toContain('<main id="main" tabindex="-1" class="failed">')
  for (const link of ['/ledger/audit', `/imports/${id}`, path]) expect(text).toContain(`<a href="${link}">`)
  expect((await loadSummary(harness.ferry.pool, id)).status).toBe('running')
})

test('if the connection breaks while a decision is made, it is perhaps done', async () => {
  await using harness = await openConsoleHarness()
  const { id, path, send } = await setup(harness)
  const { pool } = harness.ferry
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select from ferry.imports where id = $1 for update', [id])
    const sent = send()
    await expect.poll(async () => (await pool.query(WAITING_FOR_LOCK)).rowCount).toBe(1)
    harness.proxy.stop()
    const { status, text } = await sent
    expect(status).toBe(503)
    expect(text).toContain('<h1>Outcome unknown</h1>')
    for (const link of ['/ledger/audit', `/imports/${id}`, path]) expect(text).toContain(`<a href="${link}">`)
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('a worker that stops carries out no decision, and its pages look again', async () => {
  await using harness = await openConsoleHarness()
  const { id, send } = await setup(harness)
  void harness.http.stop()
  for (const { status, text } of [await send(), await harness.page('/')]) {
    expect(status).toBe(503)
    expect(text).toContain('This worker is starting or stopping.')
    expect(text).toContain('data-refresh="2000"')
  }
  expect((await loadSummary(harness.ferry.pool, id)).status).toBe('running')
})
