import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { createOutageLog, PostgresUnavailable } from '#src/db/outage.ts'
import { openDatabase } from '#src/db/pool.ts'
import { openTestDatabase } from '#test/support/database.ts'

/** The log of outages, and what was said in it. */
function openLog() {
  const lines: string[] = []
  const log = createOutageLog(pino({ level: 'info' }, { write: line => lines.push(JSON.parse(line).msg) }))
  return { lines, log }
}

test('an outage of Postgres is logged once and so is its end; an outage that follows at once is not', () => {
  const { lines, log } = openLog()
  const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  const unavailable = new PostgresUnavailable(
    { url: 'postgres://127.0.0.1/x', setting: 'DATABASE_URL' },
    lost,
  )
  for (let n = 0; n < 3; n += 1) {
    log.failed(unavailable)
    log.succeeded({ openedAtMs: performance.now(), isReadOnly: false })
  }
  expect(lines).toEqual(['Postgres is unavailable; Ferry keeps trying.', 'Postgres is available again.'])
})

test('an outage that follows at once is logged once it lasts, and so is its end', () => {
  const { lines, log } = openLog()
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const unavailable = new PostgresUnavailable({ url: 'postgres://h/x', setting: 'DATABASE_URL' }, cause)
  let nowMs = 1_000
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  log.failed(unavailable)
  log.succeeded({ openedAtMs: nowMs, isReadOnly: false })
  for (nowMs = 20_000; nowMs < 80_000; nowMs += 1_000) log.failed(unavailable)
  expect(lines).toHaveLength(2)
  for (; nowMs < 200_000; nowMs += 1_000) log.failed(unavailable)
  log.succeeded({ openedAtMs: nowMs, isReadOnly: false })
  const both = ['Postgres is unavailable; Ferry keeps trying.', 'Postgres is available again.']
  expect(lines).toEqual([...both, ...both])
})

test('an outage is logged with where it is and why, and its end with how long it took', () => {
  const lines: unknown[] = []
  const options = { level: 'debug', base: null, timestamp: false }
  const log = createOutageLog(pino(options, { write: line => lines.push(JSON.parse(line)) }))
  const failing = (code: string, message: string) =>
    new PostgresUnavailable(
      { url: 'postgres://me:hunter2@h/x', setting: 'DATABASE_URL' },
      Object.assign(new Error(message), { code }),
    )
  let nowMs = 100_000
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const opened = (isReadOnly: boolean) => log.succeeded({ openedAtMs: nowMs, isReadOnly })
  log.failed(failing('ECONNREFUSED', 'connect ECONNREFUSED'))
  nowMs += 7_000
  log.failed(failing('ECONNREFUSED', 'connect ECONNREFUSED'))
  opened(false)
  // A server that only reads is back once a connection may write.
  nowMs += 60_000
  log.failed(failing('25006', 'cannot execute INSERT in a read-only transaction'))
  nowMs += 2_000
  opened(true)
  nowMs += 1_000
  opened(false)
  nowMs += 59_999
  log.failed(failing('ECONNREFUSED', 'connect ECONNREFUSED'))
  nowMs += 500
  opened(false)
  const refused = 'Postgres at h:5432/x (DATABASE_URL) cannot be reached: connect ECONNREFUSED'
  const readOnly =
    'Postgres at h:5432/x (DATABASE_URL) accepts no writes: cannot execute INSERT in a read-only transaction'
  const [begins, ends] = ['Postgres is unavailable; Ferry keeps trying.', 'Postgres is available again.']
  expect(lines).toEqual([
    { level: 40, error: refused, msg: begins },
    { level: 30, afterMs: 7_000, msg: ends },
    { level: 40, error: readOnly, msg: begins },
    { level: 30, afterMs: 3_000, msg: ends },
    { level: 20, error: refused, msg: begins },
    { level: 20, afterMs: 500, msg: ends },
  ])
})

test('a connection that was open before the outage does not end it: others may still get none', () => {
  const { lines, log } = openLog()
  const openedAtMs = performance.now() - 1
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  log.failed(new PostgresUnavailable({ url: 'postgres://127.0.0.1/x', setting: 'DATABASE_URL' }, cause))
  log.succeeded({ openedAtMs, isReadOnly: false })
  expect(lines).toEqual(['Postgres is unavailable; Ferry keeps trying.'])
})

test('a full disk is said once a minute, though other statements succeed', async () => {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: line => lines.push(JSON.parse(line).error) })
  await using database = await openTestDatabase()
  await using store = openDatabase(database.url, log)
  const fail = async () => {
    const full = `do $$ begin raise exception 'No space left on device' using errcode = 'disk_full'; end $$`
    await expect(store.pool.query(full)).rejects.toThrow('No space left')
    await store.pool.query('select 1')
  }
  await fail()
  await fail()
  expect(lines).toEqual(['No space left on device'])
  const nowMs = performance.now()
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs + 61_000)
  await fail()
  expect(lines).toHaveLength(2)
})
