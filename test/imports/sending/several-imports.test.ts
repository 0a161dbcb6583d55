import { describe, expect, test } from 'vitest'
import { cancelImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import type { CallHook } from '#src/sandbox/state.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { rowsUnaccounted } from '#test/support/import-ledger.ts'
import { openScriptedWorker } from '#test/support/scripted-worker.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { type ImportHarness, openImportHarness, recipientsOf } from '../import-harness.ts'

/** Two imports of the same people to the same page. */

const APPLIED_AND_LOST = { kind: 'hang', applied: true } as const
const NAMELESS = { kind: 'error', code: 'InvalidParameter', message: 'A recipient is not valid.' } as const

/** Answers the calls of imports, counted from 1, in its own way. */
function answer(
  harness: ImportHarness,
  how: (nth: number, recipients: string[]) => Awaited<ReturnType<CallHook>>,
): void {
  const before = harness.calls()
  harness.sandbox.state.onCall(({ body }) => how(harness.calls() - before, recipientsOf(body)))
}

const asUsual = (harness: ImportHarness) => harness.sandbox.state.onCall(() => undefined)

/** What each import says of a recipient, and how often it came. */
async function ledgerOf(harness: ImportHarness, recipient: string) {
  const rows = await harness.query<{ import_id: string; state: string; resends: number }>(
    `select r.import_id, b.state, b.resends from ferry.import_recipients r
     join ferry.import_batches b on b.import_id = r.import_id and b.state <> 'split'
       and r.line between b.from_line and b.to_line
     where r.recipient = $1 order by r.import_id`,
    [recipient],
  )
  return { delivered: harness.delivered().get(recipient) ?? 0, rows }
}

/** Nobody was delivered more often than the imports together admit. */
async function deliveredMoreThanTold(harness: ImportHarness): Promise<string[]> {
  const wrong: string[] = []
  for (const [recipient, times] of harness.delivered()) {
    const { rows } = await ledgerOf(harness, recipient)
    const told = rows.reduce((sum, row) => sum + Number(row.state === 'sent') + row.resends, 0)
    if (times > told) wrong.push(`${recipient}: delivered ${times} times, told ${told}`)
  }
  return wrong
}

describe('an import that is resumed with a batch already cut', () => {
  test.for([
    ['unauthorized', { kind: 'error', code: 'Unauthorized' }],
    ['unavailable', { kind: 'error', code: 'ServiceUnavailable' }],
    ['too large, and halved', { kind: 'error', code: 'EntityTooLarge' }],
  ] as const)('leaves out of it whom another sent meanwhile: %s', async ([, refusal]) => {
    await using harness = await openImportHarness()
    const first = await harness.stage({ rows: 20, batchRows: 10 })
    answer(harness, nth => {
      if (nth === 1) void pauseImport(harness.ferry.pool, first, ADA).catch(() => {})
      return refusal
    })
    expect(await harness.work(first)).toBe('paused')
    expect((await harness.batches(first)).map(batch => batch.state)).toContain('ready')
    asUsual(harness)

    const second = await harness.stage({ rows: 7 })
    expect(await harness.work(second)).toBe('completed')
    await resumeImport(harness.ferry.pool, first, ADA)
    expect(await harness.work(first)).toBe('completed')

    expect(harness.timesDelivered()).toEqual({ once: 20 })
    expect(await loadSummary(harness.ferry.pool, first)).toMatchObject({ sent: 13, alreadyImported: 7 })
    expect(await rowsUnaccounted(harness.ferry.pool)).toEqual([])
  })

  test('does not send a batch of which nobody is left, and says that it was left out', async () => {
    await using harness = await openImportHarness()
    const first = await harness.stage({ rows: 5 })
    answer(harness, () => ({ kind: 'error', code: 'Unauthorized' }))
    expect(await harness.work(first)).toBe('paused')
    asUsual(harness)
    expect(await harness.work(await harness.stage({ rows: 5 }))).toBe('completed')
    await resumeImport(harness.ferry.pool, first, ADA)
    const calls = harness.calls()
    expect(await harness.work(first)).toBe('completed')
    expect(harness.calls()).toBe(calls)
    expect(await harness.batches(first)).toMatchObject([{ rows: 0, state: 'left out', uncertain: false }])
    expect(await loadSummary(harness.ferry.pool, first)).toMatchObject({
      sent: 0,
      alreadyImported: 5,
      pending: 0,
    })
  })

  test('leaves out rows refused alone, and asks again about a row set aside that is alone then', async () => {
    await using harness = await openImportHarness()
    const first = await harness.stage({ rows: 3 })
    answer(harness, (_, recipients) =>
      recipients.includes('p3@example.com')
        ? { ...NAMELESS, message: 'p3@example.com is no good' }
        : { kind: 'error', code: 'Unauthorized' },
    )
    expect(await harness.work(first)).toBe('paused')
    const [batch] = await harness.query('select set_aside from ferry.import_batches')
    expect(batch).toEqual({ set_aside: ['3'] })
    asUsual(harness)
    const second = await harness.stage({ rows: 2, recipient: line => `p${line * 2 - 2}@example.com` })
    expect(await harness.work(second)).toBe('completed')
    await resumeImport(harness.ferry.pool, first, ADA)
    const bodies: string[][] = []
    answer(harness, (_, recipients) => void bodies.push(recipients))
    expect(await harness.work(first)).toBe('completed')
    expect(bodies).toEqual([['p3@example.com']])
    expect(harness.timesDelivered()).toEqual({ once: 3 })
  })

  test('does not overwrite with old settings what a newer import has sent, update or not', async () => {
    await using harness = await openImportHarness()
    const first = await harness.stage({ rows: 4, batchRows: 2, update: true })
    answer(harness, () => ({ kind: 'error', code: 'Unauthorized' }))
    expect(await harness.work(first)).toBe('paused')
    asUsual(harness)
    const second = await harness.stage({ rows: 4, update: true, settings: () => ({ locale: 'de-DE' }) })
    expect(await harness.work(second)).toBe('completed')
    await resumeImport(harness.ferry.pool, first, ADA)
    expect(await harness.work(first)).toBe('completed')
    expect(harness.timesDelivered()).toEqual({ once: 4 })
    const third = await harness.stage({ rows: 4, update: true })
    expect(await harness.work(third)).toBe('completed')
    expect(harness.timesDelivered()).toEqual({ twice: 4 })
  })
})

describe('rows that another import may have sent', () => {
  /** An import whose first three rows have arrived with an unknown outcome. */
  async function unsure(harness: ImportHarness, onUncertain: 'hold' | 'resend'): Promise<bigint> {
    const id = await harness.stage({ rows: 3, onUncertain })
    harness.sandbox.state.inject(APPLIED_AND_LOST, { nth: 1 })
    const [stop, cutOff] = [new AbortController(), new AbortController()]
    const working = harness.work(id, { signal: stop.signal, cutOff: cutOff.signal })
    await waitFor(() => harness.calls() === 1, { what: 'the call' })
    stop.abort()
    cutOff.abort()
    await working
    return id
  }

  test.for([
    ['hold', 'resend', 'cancelled'],
    ['resend', 'hold', 'cancelled'],
    ['resend', 'hold', 'paused'],
    ['hold', 'hold', 'undecided'],
  ] as const)('are not sent if either is to hold them: %s, then %s, the first %s', async ([of, by, end]) => {
    await using harness = await openImportHarness()
    const first = await unsure(harness, of)
    if (end === 'cancelled') await cancelImport(harness.ferry.pool, first, ADA)
    if (end === 'paused') await pauseImport(harness.ferry.pool, first, ADA)
    if (end === 'undecided') expect(await harness.work(first)).toBe('undecided')

    const second = await harness.stage({ rows: 5, onUncertain: by })
    expect(await harness.work(second)).toBe('paused')
    expect(await harness.importRow(second)).toMatchObject({
      pause_code: 'UncertainElsewhere',
      pause_message: `Import ${first} may have sent 3 rows of it; the outcome is unknown.`,
      pause_what_to_do: expect.stringContaining(`\`ferry imports resolve ${first} --as sent\``),
    })
    await resumeImport(harness.ferry.pool, second, ADA)
    expect(await harness.work(second)).toBe('paused')
    expect(harness.timesDelivered()).toEqual({ once: 3 })

    expect(await resolveUncertain(harness.ferry.pool, first, 'sent', ADA)).toMatchObject({ rows: 3 })
    expect(await loadSummary(harness.ferry.pool, first)).toMatchObject({ sent: 3, uncertain: 0 })
    await resumeImport(harness.ferry.pool, second, ADA)
    expect(await harness.work(second)).toBe('completed')
    expect(harness.timesDelivered()).toEqual({ once: 5 })
    expect(await loadSummary(harness.ferry.pool, second)).toMatchObject({ sent: 2, alreadyImported: 3 })
  })

  test('are sent and called resent if a person says so', async () => {
    await using harness = await openImportHarness()
    const first = await unsure(harness, 'hold')
    await cancelImport(harness.ferry.pool, first, ADA)
    const second = await harness.stage({ rows: 5 })
    expect(await harness.work(second)).toBe('paused')
    expect(await resolveUncertain(harness.ferry.pool, first, 'resend', ADA)).toMatchObject({
      status: 'cancelled',
    })
    expect(await loadSummary(harness.ferry.pool, first)).toMatchObject({ sent: 0, uncertain: 0, pending: 3 })
    await resumeImport(harness.ferry.pool, second, ADA)
    expect(await harness.work(second)).toBe('completed')
    expect(harness.timesDelivered()).toEqual({ once: 2, twice: 3 })
    expect(await harness.batches(second)).toMatchObject([{ rows: 5, state: 'sent', resends: 1 }])
  })

  test('are sent and called resent if neither is to hold them, and left out when the first goes on', async () => {
    await using harness = await openImportHarness()
    const first = await unsure(harness, 'resend')
    await pauseImport(harness.ferry.pool, first, ADA)
    const second = await harness.stage({ rows: 6, batchRows: 3 })
    expect(await harness.work(second)).toBe('completed')
    expect(await harness.batches(second)).toMatchObject([
      { rows: 3, state: 'sent', resends: 1 },
      { rows: 3, state: 'sent', resends: 0 },
    ])
    await resumeImport(harness.ferry.pool, first, ADA)
    expect(await harness.work(first)).toBe('completed')
    expect(await loadSummary(harness.ferry.pool, first)).toMatchObject({ alreadyImported: 3, uncertain: 0 })
    expect(harness.timesDelivered()).toEqual({ once: 3, twice: 3 })
    expect(await deliveredMoreThanTold(harness)).toEqual([])
  })

  test('make a batch that was cut before count as sent again, once however often the import starts', async () => {
    await using harness = await openImportHarness()
    const second = await harness.stage({ rows: 5 })
    answer(harness, () => ({ kind: 'error', code: 'Unauthorized' }))
    expect(await harness.work(second)).toBe('paused')
    const first = await harness.stage({ rows: 3 })
    answer(harness, () => APPLIED_AND_LOST)
    const [stop, cutOff] = [new AbortController(), new AbortController()]
    const working = harness.work(first, { signal: stop.signal, cutOff: cutOff.signal })
    await waitFor(() => harness.delivered().size === 3, { what: 'the delivery' })
    stop.abort()
    cutOff.abort()
    expect(await working).toBe('stopped')
    await pauseImport(harness.ferry.pool, first, ADA)
    for (const _ of [1, 2]) {
      answer(harness, () => ({ kind: 'error', code: 'Unauthorized' }))
      await resumeImport(harness.ferry.pool, second, ADA)
      expect(await harness.work(second)).toBe('paused')
    }
    asUsual(harness)
    await resumeImport(harness.ferry.pool, second, ADA)
    expect(await harness.work(second)).toBe('completed')
    expect(await harness.batches(second)).toMatchObject([{ rows: 5, state: 'sent', resends: 1 }])
    expect(await deliveredMoreThanTold(harness)).toEqual([])
  })

  test('are waited for as long as a call of a lost worker may be under way', async () => {
    await using harness = await openImportHarness()
    const { pool } = harness.ferry
    const first = await harness.stage({ rows: 3, onUncertain: 'hold' })
    {
      await using worker = await openScriptedWorker(pool, first)
      await worker.claim()
    }
    await cancelImport(pool, first, ADA)
    const second = await harness.stage({ rows: 5 })
    expect(await harness.work(second)).toBe('busy')
    expect(await harness.importRow(second)).toMatchObject({ status: 'queued' })
    await ageImport(pool, first, '1 hour')
    expect(await harness.work(second)).toBe('paused')
    expect(await harness.importRow(second)).toMatchObject({ pause_code: 'UncertainElsewhere' })
    expect(harness.calls()).toBe(0)
  })
})
