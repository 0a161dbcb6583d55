import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { createThrottle } from '#src/db/call-log.ts'
import { loadInstallation } from '#src/db/installation.ts'
import { findCause, knowCopy, listDatabaseChanges, noticeDatabase, OwnCall } from '#src/db/known-database.ts'
import { momentNow } from '#src/model/moment.ts'
import { openTestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

const LIMIT = { limitKey: 'k', operation: 'op', windows: [{ maxCalls: 2, windowMs: 60_000 }] }
const SIGNAL = new AbortController().signal

async function openKnown() {
  const store = await openTestStore()
  await loadInstallation(store.pool)
  return store
}

/** Notices as a worker does; `held` is how many imports it says to have held. */
function notice(pool: Pool, held = 0, ownCall = new OwnCall()) {
  return noticeDatabase(pool, {
    ownCall,
    limits: [LIMIT],
    arrivalBoundMs: 5_000,
    holdImports: async () => held,
  })
}

/** Writes another value as the known one, as the row of that database would have it. */
async function know(pool: Pool, column: string, value: string): Promise<void> {
  await pool.query(
    `update ferry.known_database set ${column} = ${value}, written_by = pg_current_xact_id()::xid::text`,
  )
}

test('a database that nothing happened to is the known one, also after a vacuum full and a later look', async () => {
  await using store = await openKnown()
  expect(await notice(store.pool)).toBeNull()
  await store.pool.query('vacuum full freeze ferry.known_database')
  await know(store.pool, 'seen_at', `now() - interval '1 hour'`)
  expect(await notice(store.pool)).toBeNull()
  expect(await notice(store.pool)).toBeNull()
  expect(await listDatabaseChanges(store.pool, 9)).toEqual([])
})

test.each([
  ['server', 'system_identifier', `'7000'`],
  ['timeline', 'timeline', `'0000000F'`],
  ['database', 'database_oid', '1'],
])('another %s is noticed once, with since when rows may be missing', async (cause, column, value) => {
  await using store = await openKnown()
  await know(store.pool, 'seen_at', `'2026-01-02T03:04:05Z'`)
  await know(store.pool, column, value)
  expect(await findCause(store.pool)).toBe(cause)
  const changes = await Promise.all([notice(store.pool, 3), notice(store.pool, 3)])
  expect(changes.filter(Boolean)).toMatchObject([{ cause, missingSince: new Date('2026-01-02T03:04:05Z') }])
  expect(await listDatabaseChanges(store.pool, 9)).toMatchObject([{ cause, heldImports: 3 }])
  expect(await findCause(store.pool)).toBeNull()
  expect(await notice(store.pool)).toBeNull()
})

test('a database is told by the identifier and the timeline of its server and its own number, whatever is written to it', async () => {
  await using store = await openTestStore()
  const { rows } = await store.pool.query('select (ferry_internal.database_now()).*')
  const facts = await store.pool.query(
    `select s.system_identifier::text, lpad(upper(to_hex(c.timeline_id)), 8, '0') as timeline,
       (select oid::text from pg_database where datname = current_database()) as database_oid
     from pg_control_system() s, pg_control_checkpoint() c`,
  )
  expect(rows).toEqual(facts.rows)
})

test('an idle worker writes that it saw the database, but not at each look', async () => {
  await using store = await openKnown()
  const seenAgain = async (age: string) => {
    await know(store.pool, 'seen_at', `now() - interval '${age}'`)
    const seen = 'select seen_at::text from ferry.known_database'
    const before = await store.pool.query(seen)
    await notice(store.pool)
    return (await store.pool.query(seen)).rows[0].seen_at !== before.rows[0].seen_at
  }
  expect(await seenAgain('1 minute')).toBe(true)
  expect(await seenAgain('1 second')).toBe(false)
})

test('a server that does not tell what it is is no other one', async () => {
  await using store = await openKnown()
  for (const column of ['system_identifier', 'timeline']) await know(store.pool, column, 'null')
  expect(await findCause(store.pool)).toBeNull()
})

test('a copy of the rows, as a dump restores it, is noticed though everything in it is the same', async () => {
  await using store = await openKnown()
  await store.pool.query(`
    create temporary table dump as select * from ferry.known_database;
    delete from ferry.known_database; insert into ferry.known_database select * from dump`)
  // By this a permit is refused.
  const { rows } = await store.pool.query(
    'select is_same from ferry_internal.is_known_database(null, null, 0)',
  )
  expect(rows).toEqual([{ is_same: false }])
  expect(await notice(store.pool)).toMatchObject({ cause: 'copy' })
})

test('a copy that Ferry made itself is the known one, but not the copy of one that was not', async () => {
  await using source = await openKnown()
  await using copy = await openKnown()
  await know(copy.pool, 'system_identifier', `'7000'`)
  await know(source.pool, 'timeline', `'0000000F'`)
  await knowCopy(source.pool, copy.pool)
  expect(await findCause(copy.pool)).toBe('server')
  await notice(source.pool)
  await knowCopy(source.pool, copy.pool)
  expect(await findCause(copy.pool)).toBeNull()
})

test('until a change is noticed no permit is given; then calls wait until the platform has forgotten those that may be missing', async () => {
  await using store = await openKnown()
  const limit = { ...LIMIT, windows: [{ maxCalls: 2, windowMs: 500 }] }
  const throttle = createThrottle(store.pool, {
    limitOf: () => limit,
    arrivalBoundMs: 500,
    ownCall: new OwnCall(),
    noticeDatabase: async () => null,
  })
  const call = { account: 'a', operation: 'import-subscribers', runId: null } as const
  await know(store.pool, 'timeline', `'0000000F'`)
  const gaveUp = AbortSignal.timeout(400)
  await expect(throttle.acquirePermit(call, gaveUp)).rejects.toThrow()
  const beforeMs = performance.now()
  await noticeDatabase(store.pool, {
    ownCall: new OwnCall(),
    limits: [{ ...LIMIT, operation: call.operation, windows: [{ maxCalls: 2, windowMs: 500 }] }],
    arrivalBoundMs: 500,
    holdImports: async () => 0,
  })
  await throttle.acquirePermit(call, SIGNAL)
  expect(performance.now() - beforeMs).toBeGreaterThan(700)
})

test('a call that is given no permit for it notices the change itself', async () => {
  await using store = await openKnown()
  const throttle = store.createThrottle(LIMIT, 100)
  const call = { account: 'a', operation: 'import-subscribers', runId: null } as const
  await know(store.pool, 'timeline', `'0000000F'`)
  const acquiring = throttle.acquirePermit(call, SIGNAL)
  acquiring.catch(() => {}) // awaited below
  const changes = () => listDatabaseChanges(store.pool, 9)
  await waitFor(async () => (await changes()).length > 0, { what: 'the change to be noticed' })
  expect(await changes()).toMatchObject([{ cause: 'timeline' }])
  await acquiring
})

test('a call that this process recorded and that is not in the log is noticed, once for all processes', async () => {
  await using store = await openKnown()
  const { rows } = await store.pool.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, request_id)
     values ('k', 'a', 'op', now() - interval '1 h', now(), 'r1'), ('k', 'a', 'op', now(), now() + interval '5 s', 'r2') returning id`,
  )
  const [, last] = rows.map(({ id }) => BigInt(id))
  const askedAt = momentNow()
  const [own, other] = [new OwnCall(), new OwnCall()]
  for (const call of [own, other]) call.remember({ callId: last!, askedAt }, { requestId: 'r2' })
  expect(await notice(store.pool, 0, own)).toBeNull()

  // Restored, and used since: another call has the number.
  await store.pool.query(`update ferry.platform_calls set request_id = 'r3' where id = $1`, [last])
  expect(await notice(store.pool, 0, own)).toMatchObject({ cause: 'calls' })
  expect(await notice(store.pool, 0, own)).toBeNull()
  expect(await notice(store.pool, 0, other)).toBeNull()
  expect(await listDatabaseChanges(store.pool, 9)).toHaveLength(1)
})

test('a call of more than an hour ago says nothing: it may have been pruned', async () => {
  await using store = await openKnown()
  const minutesAgo = (minutes: number) => {
    const { monotonicMs, wallMs } = momentNow()
    return { monotonicMs: monotonicMs - minutes * 60_000, wallMs: wallMs - minutes * 60_000 }
  }
  const [young, old] = [new OwnCall(), new OwnCall()]
  young.remember({ callId: 7n, askedAt: minutesAgo(58) }, { requestId: 'r' })
  old.remember({ callId: 7n, askedAt: minutesAgo(60) }, { requestId: 'r' })
  expect(await notice(store.pool, 0, old)).toBeNull()
  expect(await notice(store.pool, 0, young)).toMatchObject({ cause: 'calls' })
})

test('rows may be missing since the last call that is there, if that is later than a worker saw the database', async () => {
  await using store = await openKnown()
  await know(store.pool, 'seen_at', `now() - interval '2 h'`)
  await know(store.pool, 'database_oid', '1')
  const { rows } = await store.pool.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by)
     values ('k', 'a', 'op', now() - interval '1 h', now()) returning started`,
  )
  expect(await notice(store.pool)).toMatchObject({ cause: 'database', missingSince: rows[0].started })
})

test('the limits that only other workers have are closed too, and for as long', async () => {
  await using store = await openKnown()
  const { pool } = store
  await pool.query(
    `insert into ferry.platform_limits (limit_key, operation) values ('other', 'op'), ('other', 'list')`,
  )
  await know(pool, 'timeline', `'0000000F'`)
  await notice(pool)
  // 60 s and 5 s, and one in a hundred for a clock that gains.
  const { rows } = await pool.query(
    `select limit_key, operation, blocked_until - w.noticed_at between '65.65 s' and '70 s' as is_closed
     from ferry.platform_limits, (select noticed_at from ferry.database_changes) w order by 1, 2`,
  )
  expect(rows).toEqual([
    { limit_key: 'k', operation: 'op', is_closed: true },
    { limit_key: 'other', operation: 'list', is_closed: true },
    { limit_key: 'other', operation: 'op', is_closed: true },
  ])
})

test('a limit that is closed for longer than that stays closed as long as it was', async () => {
  await using store = await openKnown()
  const { pool } = store
  await pool.query(
    `insert into ferry.platform_limits (limit_key, operation, blocked_until) values ('k', 'op', '2999-01-01'), ('other', 'op', '2000-01-01')`,
  )
  await know(pool, 'timeline', `'0000000F'`)
  await notice(pool)
  const { rows } = await pool.query(
    `select limit_key, blocked_until = '2999-01-01' as is_longer, blocked_until > now() as is_closed
     from ferry.platform_limits order by 1`,
  )
  expect(rows).toEqual([
    { limit_key: 'k', is_longer: true, is_closed: true },
    { limit_key: 'other', is_longer: false, is_closed: true },
  ])
})
