import { describe, expect, test } from 'vitest'
import { cancelImport } from '#src/imports/control/cancel.ts'
import { confirmImport } from '#src/imports/control/confirm.ts'
import { pauseImport } from '#src/imports/control/pause.ts'
import { purgeImport } from '#src/imports/control/purge.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { resumeImport } from '#src/imports/control/resume.ts'
import { ImportNotFound, ImportRefuses } from '#src/imports/errors.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
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

  test('writes how many rows the platform may reject before the import pauses', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { status: 'staging' })
    await store.pool.query('update ferry.imports set most_rejects = 99')
    await confirmImport(store.pool, id)
    expect((await store.pool.query('select most_rejects from ferry.imports')).rows).toEqual([
      { most_rejects: 10 },
    ])
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
