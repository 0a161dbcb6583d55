import type { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { listActs } from '#src/db/audit.ts'
import { cancelImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { IMPORT_STATUSES, type ImportStatus } from '#src/model/import.ts'
import { ADA } from '#test/support/acted-by.ts'
import {
  ACCEPTED,
  LOST,
  openScriptedWorker,
  sendAll,
  sendBatches,
  UNAUTHORIZED,
} from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { cellsOf, textOf } from './cells.ts'
import {
  BOTH_TOKENS,
  hiddenFields,
  OPERATE_TOKEN,
  openConsoleHarness,
  READ_TOKEN,
  refusedWays,
  sendForm,
} from './console-harness.ts'

/** An import of four rows, of which two are sent and two uncertain if that can be in its status. */
async function standing(pool: Pool, status: ImportStatus, pageId: bigint): Promise<bigint> {
  if (status === 'staging' || status === 'completed') return stageRows(pool, { pageId, rows: 4, status })
  const id = await stageRows(pool, { pageId, rows: 4, batchRows: 2, onUncertain: 'hold' })
  await sendBatches(pool, id, [ACCEPTED, LOST])
  if (status === 'undecided') await sendAll(pool, id)
  if (status === 'cancelled') await cancelImport(pool, id, ADA)
  if (status === 'paused' || status === 'queued') await pauseImport(pool, id, ADA)
  if (status === 'queued') await resumeImport(pool, id, ADA)
  return id
}

/** What each decision makes of such an import; null where it is not possible. */
const TABLE: Readonly<Record<string, readonly (ImportStatus | null)[]>> = {
  //                staging      queued       running      paused       undecided    completed    cancelled
  confirm: ['queued', null, null, null, null, null, null],
  pause: [null, 'paused', 'paused', null, null, null, null],
  resume: [null, null, null, 'queued', null, null, null],
  cancel: ['cancelled', 'cancelled', 'cancelled', 'cancelled', 'cancelled', null, null],
  'resolve/sent': [null, 'queued', 'running', 'paused', 'completed', null, 'cancelled'],
  'resolve/resend': [null, 'queued', 'running', 'paused', 'queued', null, 'cancelled'],
}

describe.each(Object.keys(TABLE))('the decision %s', decision => {
  const expected = TABLE[decision] ?? []
  const possible = IMPORT_STATUSES.filter((_, index) => expected[index] !== null)
  const action = decision.split('/')[0]

  test('is carried out once, in its own states, and recorded with the name of the token and the reason', async () => {
    await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
    const { pool } = harness.ferry
    for (const [index, status] of IMPORT_STATUSES.entries()) {
      const id = await standing(pool, status, BigInt(index))
      const path = `/imports/${id}/${decision}`
      const acts = async () =>
        (await listActs(pool, 100)).filter(act => act.subject === `${id}` && act.actor !== 'ada')
      const before = (await acts()).length
      if (!possible.includes(status)) {
        const { status: code, text } = await harness.page(path, OPERATE_TOKEN)
        expect(code, status).toBe(409)
        expect(textOf(text), status).toContain(`Import ${id} is ${status}: it cannot be`)
        expect(text).toContain(`<a class="button" href="/imports/${id}">`)
        expect((await loadSummary(pool, id)).status).toBe(status)
        continue
      }
      const answered = await harness.submit(path, { because: 'the page is ready' }, OPERATE_TOKEN)
      expect([answered.status, answered.headers.location], status).toEqual([303, `/imports/${id}`])
      expect((await loadSummary(pool, id)).status, status).toBe(expected[index])
      expect((await acts()).slice(0, (await acts()).length - before)).toMatchObject([
        { actor: 'console, operate token', action, because: 'the page is ready', account: 'default' },
      ])
    }
  })

  test('sent twice is done once, and said to be done', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await standing(pool, possible[0] ?? 'staging', 7n)
    const path = `/imports/${id}/${decision}`
    const fields = hiddenFields((await harness.page(path)).text)
    const first = await sendForm(harness.http.address + path, fields)
    expect(first.status).toBe(303)
    const after = await loadSummary(pool, id)
    const second = await sendForm(harness.http.address + path, fields)
    expect(second.status).toBe(409)
    expect((await loadSummary(pool, id)).status).toBe(after.status)
    expect((await listActs(pool, 100)).filter(act => act.actor === 'console, operate token')).toHaveLength(1)
  })

  test('is refused to the read token, to another site, and without the token of its form', async () => {
    await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
    const { pool } = harness.ferry
    const status = possible[0] ?? 'staging'
    const id = await standing(pool, status, 7n)
    const path = `/imports/${id}/${decision}`
    const url = harness.http.address + path
    const fields = hiddenFields((await harness.page(path, OPERATE_TOKEN)).text)
    expect((await harness.page(path, READ_TOKEN)).status).toBe(403)
    const other = hiddenFields((await harness.page(`/imports/${id}/recipient`, OPERATE_TOKEN)).text)
    for (const { sent, headers } of refusedWays(fields, other)) {
      expect((await sendForm(url, sent, headers)).status).toBe(403)
    }
    expect((await loadSummary(pool, id)).status).toBe(status)
    expect((await listActs(pool, 100)).filter(act => act.actor.startsWith('console'))).toEqual([])
  })

  test('about an import that is not there is not found', async () => {
    await using harness = await openConsoleHarness()
    const id = await standing(harness.ferry.pool, possible[0] ?? 'staging', 7n)
    const path = `/imports/${id}/${decision}`
    const fields = hiddenFields((await harness.page(path)).text)
    expect((await harness.page(`/imports/999/${decision}`)).status).toBe(404)
    await harness.ferry.pool.query('delete from ferry.import_batches; delete from ferry.imports')
    expect((await sendForm(harness.http.address + path, fields)).status).toBe(404)
  })
})

describe('a confirmation', () => {
  test('of a staged import says how many rows, calls and minutes, and what is left out', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await stageRows(pool, { rows: 1_200, batchRows: 10, status: 'staging', firstRows: 5 })
    await pool.query(
      'update ferry.imports set read = 1212, rejected = 3, duplicate = 1, suppressed = 2, already_imported = 6 where id = $1',
      [id],
    )
    const text = textOf((await harness.page(`/imports/${id}/confirm`)).text)
    // The first rows have a call of their own. 20 a minute: the last of 121 calls begins after six whole windows.
    expect(text).toContain('1,200 rows will be sent in 121 calls: about 6 min at the rate limit.')
    expect(text).toContain('After the first 5 rows it pauses.')
    expect(text).toContain(
      'The file has 1,212 rows. Not sent: 3 rejected, 1 duplicate, 2 suppressed, 6 already imported.',
    )
    expect(text).toContain('Ferry cannot take back what was sent.')
  })

  test('of an import after its first rows is their approval, and says how many others follow', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await stageRows(pool, { rows: 20, firstRows: 5, batchRows: 5 })
    await sendAll(pool, id)
    const page = await harness.page(`/imports/${id}`)
    expect(textOf(page.text)).toContain('The first 5 rows have been sent. The others wait for an approval.')
    expect(page.text).toContain(`<a class="button" href="/imports/${id}/resume">Approve the rest</a>`)
    const { text } = await harness.page(`/imports/${id}/resume`)
    expect(textOf(text)).toContain(`Approve the rest of import ${id}?`)
    expect(textOf(text)).toContain('Resuming approves all others')
    expect(textOf(text)).not.toContain('is unknown')
    expect(text).toContain('Approve and send 15 rows')
    expect(textOf(text)).toContain('15 rows will be sent in 3 calls')
    expect((await harness.submit(`/imports/${id}/resume`)).status).toBe(303)
    expect((await loadSummary(pool, id)).status).toBe('queued')
  })

  test('of a cancellation says what is not sent, what stays, and what nobody knows', async () => {
    await using harness = await openConsoleHarness()
    const id = await standing(harness.ferry.pool, 'paused', 7n)
    const { text } = await harness.page(`/imports/${id}/cancel`)
    expect(textOf(text)).toContain('The import ends. A cancelled import cannot be resumed.')
    expect(textOf(text)).toContain('2 rows were sent, and stay on page 7.')
    expect(textOf(text)).toContain(
      'The outcome of 2 rows is unknown. Ferry does not send them again; you can still mark them as sent afterwards.',
    )
    expect(textOf(text)).not.toContain('To send the others later')
    expect(text).toContain('class="danger"')
  })

  test('is about the state that was seen: if somebody else decides meanwhile, nothing is done', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await standing(pool, 'running', 7n)
    const path = `/imports/${id}/cancel`
    const fields = hiddenFields((await harness.page(path)).text)
    await pauseImport(pool, id, ADA)
    const { status, text } = await sendForm(harness.http.address + path, fields)
    expect(status).toBe(409)
    expect(textOf(text)).toContain(`Import ${id} has changed since you looked at it: it is paused now.`)
    expect((await loadSummary(pool, id)).status).toBe('paused')
    // A worker that takes it up is no reason to ask again.
    const resumed = hiddenFields((await harness.page(`/imports/${id}/resume`)).text)
    expect((await sendForm(`${harness.http.address}/imports/${id}/resume`, resumed)).status).toBe(303)
    const active = hiddenFields((await harness.page(path)).text)
    await pool.query(`update ferry.imports set status = 'running' where id = $1`, [id])
    expect((await sendForm(harness.http.address + path, active)).status).toBe(303)
  })

  test('to resume is about the pause that was seen: if the platform stops it meanwhile, it stays paused', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await stageRows(pool, { status: 'paused' })
    const path = `/imports/${id}/resume`
    const fields = hiddenFields((await harness.page(path)).text)
    await resumeImport(pool, id, ADA)
    await sendBatches(pool, id, [UNAUTHORIZED])
    expect((await sendForm(harness.http.address + path, fields)).status).toBe(409)
    expect((await loadSummary(pool, id)).status).toBe('paused')
  })
})

describe('resolving', () => {
  test('one batch of an undecided import says how many rows stay uncertain', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await stageRows(pool, { rows: 6, batchRows: 3, onUncertain: 'hold' })
    const [first] = await sendBatches(pool, id, [LOST, LOST])
    await sendAll(pool, id)
    const one = textOf((await harness.page(`/imports/${id}/batches/${first}/resend`)).text)
    expect(one).toContain('3 rows of other batches stay uncertain.')
    const all = textOf((await harness.page(`/imports/${id}/resolve/resend`)).text)
    expect(all).not.toContain('stay uncertain')
  })

  test('one batch leaves the others uncertain', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const staged = { pageId: 7n, file: 'people.csv', onUncertain: 'hold' } as const
    const id = await stageRows(pool, { ...staged, rows: 6, batchRows: 2 })
    const [first, second] = await sendBatches(pool, id, [LOST, LOST])
    const all = textOf((await harness.page(`/imports/${id}/resolve/sent`)).text)
    expect(all).toContain('Mark 2 batches with 4 rows as sent?')
    expect(all).toContain(`Import ${id} got no definite answer to the calls for these batches`)
    for (const [batch, lines] of [
      [first, '2–3'],
      [second, '4–5'],
    ] as const) {
      const one = textOf((await harness.page(`/imports/${id}/batches/${batch}/sent`)).text)
      expect(one).toContain(`Mark batch ${batch} with 2 rows as sent?`)
      expect(one).toContain('To page 7 of account default, by email, from people.csv.')
      expect(one).toContain(
        `got no definite answer to the call for batch ${batch}, which has lines ${lines} of the file`,
      )
    }
    expect((await harness.submit(`/imports/${id}/batches/${first}/sent`)).status).toBe(303)
    expect(await loadSummary(pool, id)).toMatchObject({ sent: 2, uncertain: 2 })
    expect((await harness.submit(`/imports/${id}/batches/${second}/resend`)).status).toBe(303)
    expect(await loadSummary(pool, id)).toMatchObject({ sent: 2, uncertain: 0, pending: 4 })
    for (const batch of [first, 999, 'x']) {
      expect((await harness.page(`/imports/${id}/batches/${batch}/sent`)).status).toBe(409)
    }
  })

  test('is about the batches that were looked at: another uncertain one, or another call of one, is asked about anew', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await stageRows(pool, { rows: 6, batchRows: 2, onUncertain: 'hold' })
    const [first] = await sendBatches(pool, id, [LOST])
    const path = `/imports/${id}/resolve/sent`
    const fields = hiddenFields((await harness.page(path)).text)
    await sendBatches(pool, id, [LOST])
    const more = await sendForm(harness.http.address + path, fields)
    expect([more.status, textOf(more.text)]).toEqual([
      409,
      expect.stringContaining('the uncertain batches have changed since you looked at them'),
    ])
    const { doubt: _, ...unsaid } = fields
    expect((await sendForm(harness.http.address + path, unsaid)).status).toBe(409)
    const one = `/imports/${id}/batches/${first}/sent`
    const about = hiddenFields((await harness.page(one)).text)
    await resolveUncertain(pool, id, 'resend', ADA, { batchId: first ?? null })
    await using worker = await openScriptedWorker(pool, id)
    const claim = await worker.claim()
    expect(claim.batchId).toBe(first)
    await worker.send(claim, LOST)
    expect((await sendForm(harness.http.address + one, about)).status).toBe(409)
    expect(await loadSummary(pool, id)).toMatchObject({ sent: 0, uncertain: 4 })
  })

  test('counts a batch whose worker was lost, as the page does', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await stageRows(pool, { rows: 4, batchRows: 2, onUncertain: 'hold' })
    await using worker = await openScriptedWorker(pool, id, { claimMs: 1 })
    const { batchId } = await worker.claim()
    await expect.poll(async () => (await loadSummary(pool, id)).uncertain).toBe(2)
    const { text } = await harness.page(`/imports/${id}`)
    expect(cellsOf(text, 'Uncertain: 2 rows').map(([batch]) => batch)).toEqual([`${batchId}`])
    expect((await harness.submit(`/imports/${id}/resolve/sent`)).status).toBe(303)
    expect(await loadSummary(pool, id)).toMatchObject({ sent: 2, uncertain: 0 })
  })
})
