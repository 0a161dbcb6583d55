import { describe, expect, test } from 'vitest'
import { saveCallsPerMinute } from '#src/db/limits.ts'
import { cancelImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { MAX_COUNTED_REASONS } from '#src/imports/reporting/reasons.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { putBatches, putEqualBatches } from '#test/support/batches.ts'
import {
  ACCEPTED,
  LOST,
  openScriptedWorker,
  refused,
  sendAll,
  sendBatches,
  UNAUTHORIZED,
} from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { cellsOf, textOf } from './cells.ts'
import { BOTH_TOKENS, openConsoleHarness, READ_TOKEN } from './console-harness.ts'
import { HOSTILE } from './page-text.ts'

const ROWS = 'Rows by outcome'
const BATCHES = 'Batches, last lines first'

/** Numbers by their names, as the funnel shows them. */
function funnelOf(page: string): Record<string, string> {
  return Object.fromEntries(cellsOf(page, ROWS).map(([name = '', rows = '']) => [name, rows]))
}

describe('the page of an import', () => {
  test('shows a reader a funnel that adds up, and nobody of the file', async () => {
    await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
    const { pool } = harness.ferry
    const id = await stageRows(pool, { rows: 10, batchRows: 3, onUncertain: 'hold' })
    await sendBatches(pool, id, [ACCEPTED, LOST])
    await pool.query(
      `insert into ferry.import_rejects (import_id, line, origin, reason, message, raw)
       select $1, 100 + n, 'file', case when n = 1 then 'not text' else 'no address' end, 'a message', 'secret@example.com' from generate_series(1, 3) n`,
      [id],
    )
    await pool.query(
      `insert into ferry.import_left_out (import_id, line, kind, reason, recipient)
       values ($1, 201, 'duplicate', 'duplicate', 'secret@example.com'), ($1, 202, 'suppressed', 'unsubscribed', 'secret@example.com')`,
      [id],
    )
    await pool.query(
      'update ferry.imports set read = read + 5, rejected = 3, duplicate = 1, suppressed = 1 where id = $1',
      [id],
    )
    const { status, text } = await harness.page(`/imports/${id}`, READ_TOKEN)
    expect(status).toBe(200)
    expect(funnelOf(text)).toEqual({
      Sent: '3',
      Pending: '4',
      Uncertain: '3',
      Rejected: '3',
      Duplicate: '1',
      Suppressed: '1',
      'Already imported': '0',
      Sum: '15',
    })
    expect(cellsOf(text, ROWS).map(([, , share]) => share)).toEqual(
      [20, 27, 20, 20, 7, 7, 0, 100].map(percent => `${percent} %`),
    )
    expect(text).toContain('every row is accounted for')
    expect(text).not.toContain('do not add up')
    expect(text).toContain(
      'aria-label="Sent 3, Pending 4, Uncertain 3, Rejected 3, Duplicate 1, Suppressed 1"',
    )
    expect(cellsOf(text, 'Reasons')).toEqual([
      ['2', 'rejected', 'file', 'no address'],
      ['1', 'duplicate', '–', 'duplicate'],
      ['1', 'rejected', 'file', 'not text'],
      ['1', 'suppressed', '–', 'unsubscribed'],
    ])
    expect(text).not.toMatch(/[a-z0-9]@example[.]com/)
  })

  test('counts so many rejects by reason, and says that there are more', async () => {
    await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
    const { pool } = harness.ferry
    const id = await stageRows(pool, { rows: 1 })
    const rejects = MAX_COUNTED_REASONS + 1
    await pool.query(
      `insert into ferry.import_rejects (import_id, line, origin, reason, message)
       select $1, 10 + n, 'file', 'no address', 'a message' from generate_series(1, $2::int) n`,
      [id, rejects],
    )
    await pool.query('update ferry.imports set read = read + $2, rejected = $2 where id = $1', [id, rejects])
    const { text } = await harness.page(`/imports/${id}`, READ_TOKEN)
    expect(cellsOf(text, 'Reasons')).toEqual([['10,000', 'rejected', 'file', 'no address']])
    expect(textOf(text)).toContain('Counted over the first 10,000 rejected rows')
  })

  test('says loudly if rows are missing, or too many', async () => {
    await using harness = await openConsoleHarness()
    const id = await stageRows(harness.ferry.pool, { rows: 10 })
    await harness.ferry.pool.query('update ferry.imports set read = 13 where id = $1', [id])
    const { text } = await harness.page(`/imports/${id}`)
    expect(text).toContain('The counts of this import do not add up: 3 rows of the file are unaccounted for.')
    expect(text).toContain('role="alert"')
    expect(cellsOf(text, ROWS).at(-1)).toEqual(['Sum', '10', '77 %', '13 were read: this does not add up.'])
    await harness.ferry.pool.query('update ferry.imports set read = 9 where id = $1', [id])
    expect((await harness.page(`/imports/${id}`)).text).toContain('do not add up: 1 row too many.')
  })

  test('says to a reader why nothing is sent, and looks again while it is under way', async () => {
    await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
    const { pool } = harness.ferry
    const first = await stageRows(pool, { rows: 10 })
    const second = await stageRows(pool, { rows: 10 })
    const { text } = await harness.page(`/imports/${first}`, READ_TOKEN)
    expect(textOf(text)).toContain(
      'No worker is processing this import: start ferry worker if none is running.',
    )
    expect(text).toContain('data-refresh="10000"')
    const behind = await harness.page(`/imports/${second}`, READ_TOKEN)
    expect(textOf(behind.text)).toContain(`Import ${first} of the same page goes first`)
    await pauseImport(pool, first, ADA)
    const paused = await harness.page(`/imports/${first}`, READ_TOKEN)
    expect(textOf(paused.text)).toContain('A person paused it.')
    expect(paused.text).toContain('data-refresh="30000"')
    await cancelImport(pool, first, ADA)
    expect((await harness.page(`/imports/${first}`, READ_TOKEN)).text).not.toContain('data-refresh')
  })

  test('says for how long it was active, without the time it waited for a person', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await stageRows(pool)
    await ageImport(pool, id, '49 s')
    await pauseImport(pool, id, ADA)
    await ageImport(pool, id, '10 minutes')
    await resumeImport(pool, id, ADA)
    expect(textOf((await harness.page(`/imports/${id}`)).text)).toMatch(/Active for(49|5\d)(\.\d)? s/)
  })

  test('says why the platform stopped it, what to do, and which request it was', async () => {
    await using harness = await openConsoleHarness()
    const id = await stageRows(harness.ferry.pool)
    await sendBatches(harness.ferry.pool, id, [UNAUTHORIZED])
    const { text } = await harness.page(`/imports/${id}`)
    expect(textOf(text)).toContain('The platform answered Unauthorized (HTTP 401).')
    expect(text).toMatch(/<p>Request id: <a[^>]* href="\/ledger\/calls\?request_id=req-2"/)
    expect(text).toContain(`<a class="button" href="/imports/${id}/resume">Resume</a>`)
  })

  test('shows calls of the last hour against the limit, and the same numbers in a table', async () => {
    await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
    const { pool } = harness.ferry
    await saveCallsPerMinute(pool, [
      {
        limitKey: 'account:default',
        operation: 'import-subscribers',
        windows: [{ maxCalls: 20, windowMs: 60_000 }],
      },
    ])
    const id = await stageRows(pool, { rows: 6, batchRows: 2 })
    await sendAll(pool, id)
    const { text } = await harness.page(`/imports/${id}`, READ_TOKEN)
    const minutes = cellsOf(text, 'Calls of all imports of the account, minute by minute')
    // Nothing was sent before: fifty empty minutes would only press the others together.
    expect(minutes).toHaveLength(10)
    expect(text).toContain('<h2>Calls of the last 10 min</h2>')
    expect(minutes.reduce((sum, [, calls]) => sum + Number(calls), 0)).toBe(3)
    expect(textOf(text)).toContain('The platform accepted 6 rows in these calls.')
    expect(text).toContain('limit')
  })

  test('does not say that the platform accepted what a person says was sent', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    await saveCallsPerMinute(pool, harness.ferry.limits)
    const id = await stageRows(pool, { rows: 6, batchRows: 2, onUncertain: 'hold' })
    await sendBatches(pool, id, [LOST, ACCEPTED, refused(500, 'InternalError')])
    await resolveUncertain(pool, id, 'sent', ADA)
    const { text } = await harness.page(`/imports/${id}`)
    expect(funnelOf(text)).toMatchObject({ Sent: '6' })
    expect(textOf(text)).toContain('The platform accepted 2 rows in these calls.')
  })

  test('is not there for a number that no import has', async () => {
    await using harness = await openConsoleHarness()
    for (const id of ['1', '9223372036854775808', '99999999999999999999', '-1', '1e3', 'x', '%00']) {
      expect((await harness.page(`/imports/${id}`)).status, id).toBe(404)
    }
  })

  test('names a wrong parameter', async () => {
    await using harness = await openConsoleHarness()
    const id = await stageRows(harness.ferry.pool)
    for (const [query, named] of [
      ['batches=lost', 'batches'],
      ['after=x', 'after'],
    ]) {
      const { status, text } = await harness.page(`/imports/${id}?${query}`)
      expect([status, textOf(text)], query).toEqual([
        400,
        expect.stringContaining(`The address is wrong: ${named}:`),
      ])
    }
  })

  test('cannot be changed by names of others', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    for (const name of HOSTILE) {
      const id = await stageRows(pool, { rows: 2, account: name, batchRows: 1 })
      await putBatches(pool, id, [
        { state: 'uncertain', errorCode: name, requestId: name },
        { state: 'ready' },
      ])
      await pool.query(
        `update ferry.imports set file = $2, status = 'paused', pause_message = $2, pause_what_to_do = $2, pause_request_id = $2 where id = $1`,
        [id, name],
      )
      for (const path of ['', '/resume', '/cancel', '/resolve/sent', '/resolve/resend', '/recipient']) {
        const { status, text } = await harness.page(`/imports/${id}${path}`)
        expect(status, `${path} ${name}`).toBe(200)
        expect(text, path).not.toMatch(/<script>|<img src=x/)
      }
    }
  })
})

describe('the batches of an import', () => {
  test('are paged by their lines, each shown once', async () => {
    await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
    const { pool } = harness.ferry
    const id = await stageRows(pool, { rows: 240, batchRows: 2 })
    await putEqualBatches(pool, id, { batches: 120, rows: 2 })
    const seen: string[] = []
    let path = `/imports/${id}`
    for (;;) {
      const { text } = await harness.page(path, READ_TOKEN)
      seen.push(...cellsOf(text, BATCHES).map(([, lines = '']) => lines))
      const next = /rel="next" href="([^"]+)"/.exec(text)?.[1]
      if (!next) break
      path = next.replaceAll('&amp;', '&')
    }
    expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => `${240 - 2 * index}–${241 - 2 * index}`))
  })

  test('are shown with their state, how often they were sent, and the last request ids', async () => {
    await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
    const { pool } = harness.ferry
    const id = await stageRows(pool, { rows: 6, batchRows: 2, onUncertain: 'resend' })
    await sendBatches(pool, id, [LOST])
    await sendBatches(pool, id, [ACCEPTED])
    const { text } = await harness.page(`/imports/${id}`, READ_TOKEN)
    const first = cellsOf(text, BATCHES).at(-1)
    expect(first?.slice(1, 5)).toEqual(['2–3', '2', 'sent', '2, resent 1'])
    expect(text).toContain('<a class="mono" href="/ledger/calls?request_id=req-1"><bdi>req-1</bdi></a>')
    expect(cellsOf((await harness.page(`/imports/${id}?batches=unsent`)).text, BATCHES)).toEqual([])
    await pool.query(
      `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, request_id, batch_id)
       select 'k', 'default', 'import-subscribers', now(), now(), 'later-' || n, $1 from generate_series(1, 5) n`,
      [first?.[0]],
    )
    const last = cellsOf((await harness.page(`/imports/${id}`, READ_TOKEN)).text, BATCHES)
      .at(-1)
      ?.at(-1)
    expect(last).toBe('1 earlier, later-1 later-2 later-3 later-4 later-5')
  })

  test('that are uncertain come first, each with its decisions', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await stageRows(pool, { rows: 8, batchRows: 2, onUncertain: 'hold' })
    const [lost] = await sendBatches(pool, id, [LOST, ACCEPTED])
    const { text } = await harness.page(`/imports/${id}`)
    expect(cellsOf(text, 'Uncertain: 2 rows').map(([batch]) => batch)).toEqual([`${lost}`])
    expect(text).toContain(`<a class="danger" href="/imports/${id}/batches/${lost}/sent">`)
    // By that it is found at the platform.
    const calls = await pool.query(
      'select started from ferry.platform_calls where batch_id = $1 order by started',
      [lost],
    )
    const began = (calls.rows[0].started as Date).toISOString()
    const [, shown = ''] = text.split('<caption>Uncertain: 2 rows</caption>')
    expect(shown).toContain(`<time datetime="${began}">`)
    expect(cellsOf((await harness.page(`/imports/${id}?batches=uncertain`)).text, BATCHES)).toHaveLength(1)
  })

  test('have no decisions while they are being sent again', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const id = await stageRows(pool, { rows: 1 })
    const [lost] = await sendBatches(pool, id, [LOST])
    expect((await harness.page(`/imports/${id}`)).text).toContain(`/batches/${lost}/sent`)
    await using worker = await openScriptedWorker(pool, id)
    expect((await worker.claim()).batchId).toBe(lost)
    const { text } = await harness.page(`/imports/${id}`)
    expect(funnelOf(text)).toMatchObject({ Uncertain: '1' })
    expect(text).not.toContain(`/batches/${lost}/sent`)
    expect((await harness.page(`/imports/${id}/batches/${lost}/sent`)).status).toBe(409)
  })
})
