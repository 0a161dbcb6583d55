import { describe, expect, test } from 'vitest'
import { cancelImport, pauseImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { ImportRefuses } from '#src/imports/errors.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import {
  ACCEPTED,
  LOST,
  naming,
  openScriptedWorker,
  sendAll,
  sendBatches,
} from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

describe('resolving', () => {
  /** An import of which one batch was sent a minute ago, and two are uncertain. */
  async function undecided(store: TestStore) {
    const id = await stageRows(store.pool, { rows: 6, batchRows: 2, onUncertain: 'hold' })
    const batches = await sendBatches(store.pool, id, [ACCEPTED, LOST, LOST])
    await sendAll(store.pool, id)
    await ageImport(store.pool, id, '1 minute')
    return { id, batches }
  }

  test('all as sent completes the import', async () => {
    await using store = await openTestStore()
    const { id } = await undecided(store)
    expect(await resolveUncertain(store.pool, id, 'sent', ADA)).toEqual({
      batches: 2,
      rows: 4,
      status: 'completed',
    })
    expect(await loadSummary(store.pool, id)).toMatchObject({ sent: 6, uncertain: 0, pending: 0 })
    const { rows } = await store.pool.query(
      `select message, uncertain, sent_at = (select started from ferry.platform_calls c where c.id = call_id) as as_called
       from ferry.import_batches where resends = 0 and message is not null`,
    )
    const decided = { message: expect.stringContaining('a person'), uncertain: false, as_called: true }
    expect(rows).toEqual([decided, decided])
  })

  test('one as sent leaves the import undecided about the others', async () => {
    await using store = await openTestStore()
    const { id, batches } = await undecided(store)
    expect(await resolveUncertain(store.pool, id, 'sent', ADA, { batchId: batches[1]! })).toEqual({
      batches: 1,
      rows: 2,
      status: 'undecided',
    })
    await expect(resolveUncertain(store.pool, id, 'sent', ADA, { batchId: batches[1]! })).rejects.toThrow(
      `its batch ${batches[1]} is not uncertain`,
    )
    expect(await loadSummary(store.pool, id)).toMatchObject({ sent: 4, uncertain: 2 })
  })

  test('as to be sent again queues the import, and counts the resend', async () => {
    await using store = await openTestStore()
    const { id, batches } = await undecided(store)
    expect(await resolveUncertain(store.pool, id, 'resend', ADA, { batchId: batches[2]! })).toMatchObject({
      status: 'queued',
    })
    const { rows } = await store.pool.query(
      'select state, resends, uncertain from ferry.import_batches where id = $1',
      [batches[2]],
    )
    expect(rows).toEqual([{ state: 'ready', resends: 1, uncertain: false }])
    expect(await loadSummary(store.pool, id)).toMatchObject({ sent: 2, uncertain: 2, pending: 2 })
  })

  test('is refused if nothing is uncertain, and never touches another import', async () => {
    await using store = await openTestStore()
    const { batches } = await undecided(store)
    const other = await stageRows(store.pool, { status: 'paused' })
    await expect(resolveUncertain(store.pool, other, 'sent', ADA)).rejects.toThrow(
      'it has no uncertain batch',
    )
    await expect(resolveUncertain(store.pool, other, 'sent', ADA, { batchId: batches[1]! })).rejects.toThrow(
      ImportRefuses,
    )
  })

  test('of a cancelled import decides what a lost worker left in flight, and says what becomes of it', async () => {
    await using store = await openTestStore()
    for (const [as, sums] of [
      ['sent', { sent: 4, uncertain: 0, pending: 1 }],
      ['resend', { sent: 2, uncertain: 0, pending: 3 }],
    ] as const) {
      const id = await stageRows(store.pool, { rows: 5, batchRows: 2, pageId: as === 'sent' ? 1n : 2n })
      await using worker = await openScriptedWorker(store.pool, id)
      await worker.send(await worker.claim(), ACCEPTED)
      const { batchId: lost } = await worker.claim()
      await cancelImport(store.pool, id, ADA)
      await ageImport(store.pool, id, '1 hour')
      const { batches } = await reportImport(store.pool, id)
      expect(batches.map(batch => batch.state)).toEqual(['sent', 'uncertain'])
      expect(await resolveUncertain(store.pool, id, as, ADA, { batchId: lost })).toEqual({
        batches: 1,
        rows: 2,
        status: 'cancelled',
      })
      expect(await loadSummary(store.pool, id)).toMatchObject({ status: 'cancelled', ...sums })
      await expect(resolveUncertain(store.pool, id, as, ADA)).rejects.toThrow('it has no uncertain batch')
    }
  })

  test('decides no batch whose call may still be under way', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 2 })
    await using worker = await openScriptedWorker(store.pool, id)
    await worker.claim()
    await cancelImport(store.pool, id, ADA)
    await expect(resolveUncertain(store.pool, id, 'sent', ADA)).rejects.toThrow('it has no uncertain batch')
  })

  test('decides a batch that was to be sent again by itself; lines the platform had named of it are rejects', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 3 })
    await sendBatches(store.pool, id, [naming('p3@example.com'), LOST])
    await pauseImport(store.pool, id, ADA)
    expect(await resolveUncertain(store.pool, id, 'sent', ADA)).toEqual({
      batches: 1,
      rows: 2,
      status: 'paused',
    })
    expect(await loadSummary(store.pool, id)).toMatchObject({
      sent: 2,
      rejected: 1,
      uncertain: 0,
      pending: 0,
    })
  })
})
