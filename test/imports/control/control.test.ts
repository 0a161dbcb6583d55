import type { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { listActs } from '#src/db/audit.ts'
import { drizzleOf } from '#src/db/drizzle.ts'
import { inTransaction } from '#src/db/pool.ts'
import { cancelImport, confirmImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { purgeImport } from '#src/imports/control/purge.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { ImportNotFound, ImportRefuses } from '#src/imports/errors.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { imports } from '#src/imports/schema.ts'
import { beginStaging } from '#src/imports/staging/staging.ts'
import type { ActedBy } from '#src/model/act.ts'
import { IMPORT_STATUSES, type ImportStatus } from '#src/model/import.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import {
  ACCEPTED,
  LOST,
  openScriptedWorker,
  sendAll,
  sendBatches,
  UNAUTHORIZED,
  UNAVAILABLE,
} from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

/** Who decides what is tested. */
const SAM: ActedBy = { actor: 'sam', because: 'the page is ready' }

const DECISIONS = {
  confirm: confirmImport,
  pause: pauseImport,
  resume: resumeImport,
  cancel: cancelImport,
  resolve: (pool: Parameters<typeof pauseImport>[0], id: bigint, by: ActedBy) =>
    resolveUncertain(pool, id, 'sent', by).then(({ status }) => status),
  purge: (pool: Parameters<typeof pauseImport>[0], id: bigint, by: ActedBy) =>
    purgeImport(pool, id, by).then(async () => (await loadSummary(pool, id)).status),
} as const

/** An import of four rows, of which two are sent and two uncertain if that can be in its status. */
const STANDING: Readonly<Record<ImportStatus, (pool: Pool, pageId: bigint) => Promise<bigint>>> = {
  staging: (pool, pageId) => stageRows(pool, { pageId, status: 'staging' }),
  queued: async (pool, pageId) => {
    const id = await STANDING.paused(pool, pageId)
    await resumeImport(pool, id, ADA)
    return id
  },
  running: async (pool, pageId) => {
    const id = await stageRows(pool, { pageId, rows: 4, batchRows: 2, onUncertain: 'hold' })
    await sendBatches(pool, id, [ACCEPTED, LOST])
    return id
  },
  paused: async (pool, pageId) => {
    const id = await STANDING.running(pool, pageId)
    await pauseImport(pool, id, ADA)
    return id
  },
  undecided: async (pool, pageId) => {
    const id = await STANDING.running(pool, pageId)
    await sendAll(pool, id)
    return id
  },
  completed: (pool, pageId) => stageRows(pool, { pageId, rows: 4, status: 'completed' }),
  cancelled: async (pool, pageId) => {
    const id = await STANDING.running(pool, pageId)
    await cancelImport(pool, id, ADA)
    return id
  },
}

/** What each decision makes of such an import; null where it is refused. */
const TABLE = {
  //          staging    queued       running      paused       undecided    completed    cancelled
  confirm: ['queued', null, null, null, null, null, null],
  pause: [null, 'paused', 'paused', null, null, null, null],
  resume: [null, null, null, 'queued', null, null, null],
  cancel: ['cancelled', 'cancelled', 'cancelled', 'cancelled', 'cancelled', null, null],
  resolve: [null, 'queued', 'running', 'paused', 'completed', null, 'cancelled'],
  purge: [null, null, null, null, null, 'completed', 'cancelled'],
} as const

describe('a decision', () => {
  test.each(Object.keys(TABLE) as (keyof typeof TABLE)[])(
    '%s is possible in its own statuses and recorded, and refused in all others with what can be done',
    async decision => {
      await using store = await openTestStore()
      for (const [index, status] of IMPORT_STATUSES.entries()) {
        const id = await STANDING[status](store.pool, BigInt(index))
        expect((await loadSummary(store.pool, id)).status).toBe(status)
        const expected = TABLE[decision][index]
        const decided = DECISIONS[decision](store.pool, id, SAM)
        if (expected) {
          expect(await decided, status).toBe(expected)
          expect((await loadSummary(store.pool, id)).status).toBe(expected)
        } else {
          const error = await decided.catch(error => error)
          expect(error, status).toBeInstanceOf(ImportRefuses)
          expect(error.message).toMatch(new RegExp(`^import ${id} is ${status}: .*(\`ferry imports|again)`))
          expect((await loadSummary(store.pool, id)).status).toBe(status)
        }
        const recorded = { account: 'default', action: decision, because: 'the page is ready' }
        const acts = await listActs(store.pool, 100, { actor: 'sam' })
        expect(acts.filter(act => act.subject === `${id}`)).toMatchObject(expected ? [recorded] : [])
      }
    },
  )

  test.each(Object.keys(DECISIONS) as (keyof typeof DECISIONS)[])(
    '%s about an import that does not exist says so',
    async decision => {
      await using store = await openTestStore()
      const error = await DECISIONS[decision](store.pool, 7n, SAM).catch(error => error)
      expect(error).toBeInstanceOf(ImportNotFound)
      expect(error.message).toBe('there is no import 7; `ferry imports list` shows them')
    },
  )
})

const NEW_IMPORT = {
  account: 'default',
  page_id: 7n,
  method: 'email',
  file: 'test.csv',
  options: {},
  on_uncertain: 'resend',
  update_existing: false,
  batch_rows: 500,
} as const

describe('confirming', () => {
  test('an import that is still being staged is refused', async () => {
    await using store = await openTestStore()
    const { id } = await inTransaction(store.pool, client => beginStaging(client, NEW_IMPORT, false))
    await expect(confirmImport(store.pool, id, ADA)).rejects.toThrow('still being read')
  })

  test('an import with nobody to send to completes it at once', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 0, status: 'staging' })
    expect(await confirmImport(store.pool, id, ADA)).toBe('completed')
    const [row] = (await store.pool.query('select status, finished_at from ferry.imports')).rows
    expect(row).toEqual({ status: 'completed', finished_at: expect.any(Date) })
  })

  test('writes how many rows the platform may reject before the import pauses', async () => {
    await using store = await openTestStore()
    // The default is there for imports of earlier versions only.
    await store.pool.query('alter table ferry.imports alter max_rejects set default 99')
    const id = await stageRows(store.pool, { status: 'staging' })
    await confirmImport(store.pool, id, ADA)
    expect((await store.pool.query('select max_rejects from ferry.imports')).rows).toEqual([
      { max_rejects: 10 },
    ])
  })

  test('from several machines at once queues it once', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { status: 'staging' })
    const ends = await Promise.allSettled([1, 2, 3].map(() => confirmImport(store.pool, id, ADA)))
    expect(ends.filter(end => end.status === 'fulfilled')).toHaveLength(1)
  })
})

describe('resuming', () => {
  const NOTHING = {
    failures: 0,
    retry_at: null,
    pause_code: null,
    pause_request_id: null,
    pause_message: null,
    pause_what_to_do: null,
  }

  test.for([
    ['by a person while it backed off', UNAVAILABLE, { failures: 1, retry_at: expect.any(Date) }],
    ['by the platform', UNAUTHORIZED, { pause_code: 'Unauthorized', pause_request_id: 'req-2' }],
  ] as const)('forgets why it was paused, its failures and its back-off: %s', async ([, answer, before]) => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool)
    await sendBatches(store.pool, id, [answer])
    if (answer === UNAVAILABLE) await pauseImport(store.pool, id, ADA)
    const { failures, retry_at, pause_code, pause_request_id, pause_message, pause_what_to_do } = imports
    const columns = { failures, retry_at, pause_code, pause_request_id, pause_message, pause_what_to_do }
    const stored = () => drizzleOf(store.pool).select(columns).from(imports)
    expect(await stored()).toMatchObject([{ ...before, pause_message: expect.stringMatching(/./) }])
    await resumeImport(store.pool, id, ADA)
    expect(await stored()).toEqual([NOTHING])
  })
})

describe('the time an import took', () => {
  const hours = (ms: number) => Math.round(ms / 360_000) / 10
  const took = async (store: TestStore, id: bigint) => hours((await loadSummary(store.pool, id)).durationMs)

  test('stands still while it is paused, and goes on when it is resumed', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 2 })
    await ageImport(store.pool, id, '1 hour')
    for (const taken of [1, 2]) {
      await pauseImport(store.pool, id, ADA)
      await ageImport(store.pool, id, '1 hour')
      await ageImport(store.pool, id, '1 hour')
      expect(await took(store, id)).toBe(taken)
      const before = await loadSummary(store.pool, id)
      expect(await loadSummary(store.pool, id)).toEqual(before)
      await resumeImport(store.pool, id, ADA)
      expect(await took(store, id)).toBe(taken)
      await ageImport(store.pool, id, '1 hour')
      expect(await took(store, id)).toBe(taken + 1)
    }
    await pauseImport(store.pool, id, ADA)
    await ageImport(store.pool, id, '1 hour')
    await cancelImport(store.pool, id, ADA)
    await ageImport(store.pool, id, '1 hour')
    expect(await took(store, id)).toBe(3)
  })

  test('stands still while a person is to decide', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 2, onUncertain: 'hold' })
    await ageImport(store.pool, id, '1 hour')
    await sendAll(store.pool, id, LOST)
    await ageImport(store.pool, id, '1 hour')
    expect(await took(store, id)).toBe(1)
    expect((await resolveUncertain(store.pool, id, 'sent', ADA)).status).toBe('completed')
    expect(await took(store, id)).toBe(1)
  })
})

describe('cancelling', () => {
  test('leaves those not sent pending, and the sum whole', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 10, batchRows: 3 })
    await using worker = await openScriptedWorker(store.pool, id)
    await worker.send(await worker.claim(), ACCEPTED)
    await worker.claim()
    await cancelImport(store.pool, id, ADA)
    expect(await loadSummary(store.pool, id)).toMatchObject({
      status: 'cancelled',
      sent: 3,
      pending: 7,
      batches: 2,
    })
  })
})
