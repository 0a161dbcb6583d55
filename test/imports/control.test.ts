import { describe, expect, test } from 'vitest'
import {
  cancelImport,
  confirmImport,
  pauseImport,
  purgeImport,
  resolveUncertain,
  resumeImport,
} from '#src/imports/control.ts'
import { ImportNotFound, ImportRefuses } from '#src/imports/errors.ts'
import { loadSummary } from '#src/imports/progress.ts'
import { reportImport } from '#src/imports/report.ts'
import { IMPORT_STATUSES } from '#src/model/import.ts'
import { putBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

const DECISIONS = {
  confirm: confirmImport,
  pause: pauseImport,
  resume: resumeImport,
  cancel: cancelImport,
  resolve: (pool: Parameters<typeof pauseImport>[0], id: bigint) =>
    resolveUncertain(pool, id, 'sent', null).then(({ status }) => status),
  purge: (pool: Parameters<typeof pauseImport>[0], id: bigint) =>
    purgeImport(pool, id).then(async () => (await loadSummary(pool, id)).status),
} as const

/** What each decision makes of an import in each status, one batch of it being uncertain; null where it is refused. */
const TABLE = {
  //          staging    queued       running      paused       undecided    completed    cancelled
  confirm: ['queued', null, null, null, null, null, null],
  pause: [null, 'paused', 'paused', null, null, null, null],
  resume: [null, null, null, 'queued', null, null, null],
  cancel: ['cancelled', 'cancelled', 'cancelled', 'cancelled', 'cancelled', null, null],
  resolve: ['staging', 'queued', 'running', 'paused', 'completed', null, 'cancelled'],
  purge: [null, null, null, null, null, 'completed', 'cancelled'],
} as const

describe('a decision', () => {
  test.each(Object.keys(TABLE) as (keyof typeof TABLE)[])(
    '%s is possible in its own statuses, and refused in all others with what can be done',
    async decision => {
      await using store = await openTestStore()
      for (const [index, status] of IMPORT_STATUSES.entries()) {
        const id = await stageRows(store.pool, { rows: 4, status })
        await putBatches(store.pool, id, [
          { lines: 2, state: 'sent' },
          { lines: 2, state: 'uncertain' },
        ])
        const expected = TABLE[decision][index]
        const decided = DECISIONS[decision](store.pool, id)
        if (expected) {
          expect(await decided, status).toBe(expected)
          expect((await loadSummary(store.pool, id)).status).toBe(expected)
        } else {
          const error = await decided.catch(error => error)
          expect(error, status).toBeInstanceOf(ImportRefuses)
          expect(error.message).toMatch(new RegExp(`^import ${id} is ${status}: .*(\`ferry imports|again)`))
          expect((await loadSummary(store.pool, id)).status).toBe(status)
        }
      }
    },
  )

  test.each(Object.keys(DECISIONS) as (keyof typeof DECISIONS)[])(
    '%s about an import that does not exist says so',
    async decision => {
      await using store = await openTestStore()
      const error = await DECISIONS[decision](store.pool, 7n).catch(error => error)
      expect(error).toBeInstanceOf(ImportNotFound)
      expect(error.message).toBe('there is no import 7; `ferry imports list` shows them')
    },
  )
})

describe('confirming', () => {
  test('an import that is still being staged is refused', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { status: 'staging' })
    await store.pool.query('update ferry.imports set staged_at = null')
    await expect(confirmImport(store.pool, id)).rejects.toThrow('still being read')
  })

  test('an import with nobody to send to completes it at once', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 0, status: 'staging' })
    expect(await confirmImport(store.pool, id)).toBe('completed')
    const [row] = (await store.pool.query('select status, finished_at from ferry.imports')).rows
    expect(row).toEqual({ status: 'completed', finished_at: expect.any(Date) })
  })

  test('from several machines at once queues it once', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { status: 'staging' })
    const ends = await Promise.allSettled([1, 2, 3].map(() => confirmImport(store.pool, id)))
    expect(ends.filter(end => end.status === 'fulfilled')).toHaveLength(1)
  })
})

describe('resuming', () => {
  test('forgets why it was paused, its failures and its back-off', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { status: 'paused' })
    await store.pool.query(
      `update ferry.imports set failures = 10, retry_at = now() + interval '1 hour', pause_code = 'Unauthorized',
         pause_request_id = 'r', pause_message = 'm', pause_what_to_do = 'w'`,
    )
    await resumeImport(store.pool, id)
    const { rows } = await store.pool.query(
      'select failures, retry_at, pause_code, pause_request_id, pause_message, pause_what_to_do from ferry.imports',
    )
    expect(rows).toEqual([
      {
        failures: 0,
        retry_at: null,
        pause_code: null,
        pause_request_id: null,
        pause_message: null,
        pause_what_to_do: null,
      },
    ])
  })
})

describe('the time an import took', () => {
  const hours = (ms: number) => Math.round(ms / 360_000) / 10
  const took = async (store: Awaited<ReturnType<typeof openTestStore>>, id: bigint) =>
    hours((await loadSummary(store.pool, id)).durationMs)
  /** Lets an hour pass: all that is remembered was an hour earlier. */
  const anHourLater = (store: Awaited<ReturnType<typeof openTestStore>>) =>
    store.pool.query(
      `update ferry.imports set confirmed_at = confirmed_at - interval '1 h', rests_since = rests_since - interval '1 h',
         finished_at = finished_at - interval '1 h'`,
    )

  test('stands still while it is paused, and goes on when it is resumed', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 2 })
    await anHourLater(store)
    for (const taken of [1, 2]) {
      await pauseImport(store.pool, id)
      await anHourLater(store)
      await anHourLater(store)
      expect(await took(store, id)).toBe(taken)
      const before = await loadSummary(store.pool, id)
      expect(await loadSummary(store.pool, id)).toEqual(before)
      await resumeImport(store.pool, id)
      expect(await took(store, id)).toBe(taken)
      await anHourLater(store)
      expect(await took(store, id)).toBe(taken + 1)
    }
    await pauseImport(store.pool, id)
    await anHourLater(store)
    await cancelImport(store.pool, id)
    await anHourLater(store)
    expect(await took(store, id)).toBe(3)
  })

  test('stands still while a person is to decide', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 2, status: 'running' })
    await putBatches(store.pool, id, [{ lines: 2, state: 'uncertain', uncertain: true }])
    await anHourLater(store)
    await store.pool.query(`update ferry.imports set status = 'undecided'`)
    await anHourLater(store)
    expect(await took(store, id)).toBe(1)
    expect((await resolveUncertain(store.pool, id, 'sent', null)).status).toBe('completed')
    expect(await took(store, id)).toBe(1)
  })
})

describe('cancelling', () => {
  test('leaves those not sent pending, and the sum whole', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 10, status: 'running' })
    await putBatches(store.pool, id, [
      { lines: 3, state: 'sent' },
      { lines: 3, state: 'in flight', claimEndsInMs: 60_000 },
    ])
    await cancelImport(store.pool, id)
    expect(await loadSummary(store.pool, id)).toMatchObject({
      status: 'cancelled',
      sent: 3,
      pending: 7,
      batches: 2,
    })
  })
})

describe('resolving', () => {
  async function undecided(store: Awaited<ReturnType<typeof openTestStore>>) {
    const id = await stageRows(store.pool, { rows: 6, status: 'undecided' })
    const batches = await putBatches(store.pool, id, [
      { lines: 2, state: 'sent' },
      { lines: 2, state: 'uncertain', uncertain: true, sentSecondsAgo: 60 },
      { lines: 2, state: 'uncertain', uncertain: true },
    ])
    return { id, batches }
  }

  test('all as sent completes the import', async () => {
    await using store = await openTestStore()
    const { id } = await undecided(store)
    expect(await resolveUncertain(store.pool, id, 'sent', null)).toEqual({
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
    expect(await resolveUncertain(store.pool, id, 'sent', batches[1]!)).toEqual({
      batches: 1,
      rows: 2,
      status: 'undecided',
    })
    await expect(resolveUncertain(store.pool, id, 'sent', batches[1]!)).rejects.toThrow(
      `its batch ${batches[1]} is not uncertain`,
    )
    expect(await loadSummary(store.pool, id)).toMatchObject({ sent: 4, uncertain: 2 })
  })

  test('as to be sent again queues the import, and counts the resend', async () => {
    await using store = await openTestStore()
    const { id, batches } = await undecided(store)
    expect(await resolveUncertain(store.pool, id, 'resend', batches[2]!)).toMatchObject({ status: 'queued' })
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
    await expect(resolveUncertain(store.pool, other, 'sent', null)).rejects.toThrow(
      'it has no uncertain batch',
    )
    await expect(resolveUncertain(store.pool, other, 'sent', batches[1]!)).rejects.toThrow(ImportRefuses)
  })

  test('of a cancelled import decides what a lost worker left in flight, and says what becomes of it', async () => {
    await using store = await openTestStore()
    for (const [as, sums] of [
      ['sent', { sent: 3, uncertain: 0, pending: 1 }],
      ['resend', { sent: 1, uncertain: 0, pending: 3 }],
    ] as const) {
      const id = await stageRows(store.pool, { rows: 4, status: 'running' })
      const [, lost] = await putBatches(store.pool, id, [
        { lines: 1, state: 'sent' },
        { lines: 2, state: 'in flight', claimEndsInMs: -1 },
      ])
      await cancelImport(store.pool, id)
      const { batches } = await reportImport(store.pool, id)
      expect(batches.map(batch => batch.state)).toEqual(['sent', 'uncertain'])
      expect(await resolveUncertain(store.pool, id, as, lost!)).toEqual({
        batches: 1,
        rows: 2,
        status: 'cancelled',
      })
      expect(await loadSummary(store.pool, id)).toMatchObject({ status: 'cancelled', ...sums })
      await expect(resolveUncertain(store.pool, id, as, null)).rejects.toThrow('it has no uncertain batch')
    }
  })

  test('decides no batch whose call may still be under way', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 2, status: 'cancelled' })
    await putBatches(store.pool, id, [{ lines: 2, state: 'in flight', claimEndsInMs: 60_000 }])
    await expect(resolveUncertain(store.pool, id, 'sent', null)).rejects.toThrow('it has no uncertain batch')
  })

  test('decides a batch that was to be sent again by itself; lines the platform had named of it are rejects', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 3, status: 'paused' })
    await putBatches(store.pool, id, [{ lines: 3, uncertain: true, resends: 1 }])
    await store.pool.query(
      `update ferry.import_batches set set_aside = '{3}', reasons = '{"3": {"code": "c", "message": "m", "requestId": "r"}}'`,
    )
    expect(await resolveUncertain(store.pool, id, 'sent', null)).toEqual({
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
