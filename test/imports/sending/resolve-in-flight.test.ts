import { describe, expect, test } from 'vitest'
import { pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { reclaimExpired } from '#src/imports/sending/reclaim.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { APPLIED_AND_FAILED, during, openImportHarness } from '../import-harness.ts'

describe('deciding about uncertain batches', () => {
  test('leaves alone the one whose call is under way, and the import goes on', async () => {
    await using harness = await openImportHarness()
    const { pool } = harness.ferry
    const id = await harness.stage({ rows: 6, batchRows: 2, onUncertain: 'hold' })
    harness.sandbox.state.inject(APPLIED_AND_FAILED, { nth: 1 })
    harness.sandbox.state.inject(APPLIED_AND_FAILED, { nth: 2 })
    let decided: unknown
    harness.sandbox.state.onCall(async () => {
      if (harness.calls() === 2) decided = await resolveUncertain(pool, id, 'sent', ADA)
      return undefined
    })
    expect(await harness.work(id)).toBe('undecided')
    expect(decided).toEqual({ batches: 1, rows: 2, status: 'running' })
    expect((await harness.batches(id)).map(batch => batch.state)).toEqual(['sent', 'uncertain', 'sent'])
    expect(await loadSummary(pool, id)).toMatchObject({ sent: 4, uncertain: 2, pending: 0 })
    expect(harness.timesDelivered()).toEqual({ once: 6 })
  })

  test('does not decide about a call under way because an earlier one of its batch was uncertain', async () => {
    await using harness = await openImportHarness()
    const { pool } = harness.ferry
    const id = await harness.stage({ rows: 2 })
    const refusals: string[] = []
    harness.sandbox.state.onCall(async () => {
      if (harness.calls() === 1) return APPLIED_AND_FAILED
      for (const as of ['sent', 'resend'] as const) {
        refusals.push(await resolveUncertain(pool, id, as, ADA).catch(error => error.message))
      }
      return undefined
    })
    expect(await harness.work(id)).toBe('completed')
    expect(refusals).toEqual(Array(2).fill(expect.stringContaining('it has no uncertain batch')))
    expect(await harness.batches(id)).toMatchObject([{ state: 'sent', resends: 1, uncertain: false }])
  })

  test.for(['sent', 'resend'] as const)(
    'as %s stands, unless the answer that comes after all says that the platform took it',
    async as => {
      await using harness = await openImportHarness({}, { FERRY_REQUEST_TIMEOUT: '20s' })
      const { pool } = harness.ferry
      const faults = [
        undefined,
        { kind: 'error', code: 'InvalidParameter', message: 'p2@example.com is bad' },
        APPLIED_AND_FAILED,
      ] as const
      for (const [page, fault] of faults.entries()) {
        const pageId = BigInt(page + 1)
        harness.sandbox.state.subscribers.addPage(pageId)
        const id = await harness.stage({ rows: 2, onUncertain: 'hold', pageId })
        const decide = async () => {
          await ageImport(pool, id, '1 hour')
          await reclaimExpired(pool)
          await resolveUncertain(pool, id, as, ADA)
          await pauseImport(pool, id, ADA)
        }
        during(harness, decide, fault)
        expect(await harness.work(id)).toBe('paused')
        // What the platform took is not sent again, whoever said so.
        const isTaken = as === 'resend' && fault === undefined
        expect(await harness.batches(id)).toMatchObject([
          as === 'sent' ? { state: 'sent', resends: 0 } : { state: isTaken ? 'sent' : 'ready' },
        ])
        expect(await harness.rejects(id)).toEqual([])
        expect(await harness.importRow(id)).toMatchObject({
          accepted: Number(isTaken),
          unaccepted: 0,
          failures: 0,
        })
      }
    },
  )

  test('about one import makes another look again at what it may have looked at before', async () => {
    await using harness = await openImportHarness()
    const { pool } = harness.ferry
    const first = await harness.stage({ rows: 3 })
    const [stop, cutOff] = [new AbortController(), new AbortController()]
    harness.sandbox.state.inject({ kind: 'hang', applied: true }, { nth: 1 })
    const working = harness.work(first, { signal: stop.signal, cutOff: cutOff.signal })
    await waitFor(() => harness.calls() === 1, { what: 'the call' })
    stop.abort()
    cutOff.abort()
    await working
    await pauseImport(pool, first, ADA)
    const second = await harness.stage({ rows: 5 })
    during(harness, async () => {}, { kind: 'error', code: 'Unauthorized' })
    expect(await harness.work(second)).toBe('paused')

    // They were sent before the second import looked; that they were is known only now.
    expect(await resolveUncertain(pool, first, 'sent', ADA)).toMatchObject({ rows: 3 })
    await resumeImport(pool, second, ADA)
    expect(await harness.work(second)).toBe('completed')
    expect(harness.timesDelivered()).toEqual({ once: 5 })
    expect(await loadSummary(pool, second)).toMatchObject({ sent: 2, alreadyImported: 3 })
  })
})
