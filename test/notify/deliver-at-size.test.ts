import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import type { CallResult } from '#src/notify/caller.ts'
import { deliverPending } from '#src/notify/deliver.ts'
import { Acceptances } from '#src/notify/pending.ts'
import { routeEvents } from '#src/notify/route.ts'
import { openTestStore } from '#test/support/store.ts'

const EVENTS = 200_000
const REFUSED = 5_000

test('a look reads what waits and what is due, however many events there are', async () => {
  await using store = await openTestStore()
  const { pool } = store
  // Delivered, dead, and in the end those that the receiver refused a minute ago.
  await pool.query(
    `with written as (
       insert into ferry.events (kind, state, account, subject, data, at, routed_at)
       select 'import.paused', 'raised', 'default', n::text, '{"import":"1"}',
         now() - ($1 - n) * interval '1 s' - (n <= $1 - $2)::int * interval '1 day', now()
       from generate_series(1, $1::int) n returning *
     )
     insert into ferry.deliveries (event, receiver, kind, account, subject, data, at, delivered_at, attempts, http_status, retry_at)
     select id, 'webhook', kind, account, subject, data, at, case when id <= $1 - $2 and id % 4 > 0 then now() end,
       (id > $1 - $2)::int, case when id > $1 - $2 then 400 end, case when id > $1 - $2 then now() + interval '4 min' end
     from written`,
    [EVENTS, REFUSED],
  )
  await pool.query('vacuum analyze ferry.events, ferry.deliveries')
  await pool.query(`insert into ferry.receivers (name, after_event) values ('webhook', 0)`)
  await pool.query(
    `insert into ferry.events (kind, state, account, subject, data) values ('import.paused', 'raised', 'default', 'new', '{"import":"new"}')`,
  )
  await pool.query(
    `alter database "${new URL(store.url).pathname.slice(1)}" set plan_cache_mode = force_generic_plan`,
  )
  const generic = store.openPool()
  const rowsRead = async () => {
    await generic.query('select pg_stat_force_next_flush()')
    const { rows } = await pool.query<{ n: number }>(
      `select sum(seq_tup_read + idx_tup_fetch)::int as n from pg_stat_user_tables where schemaname = 'ferry' and relname in ('events', 'deliveries')`,
    )
    return rows[0]?.n ?? 0
  }
  const told: string[] = []
  const [receiver] = readConfig({ FERRY_WEBHOOK_URL: 'http://127.0.0.1:1' }).notify.receivers
  if (!receiver) throw new Error('the receiver is not read')
  const route = () =>
    routeEvents({ pool: generic, receivers: [receiver], timezone: 'UTC', summarizeRules: async () => [] })
  const acceptances = new Acceptances(generic, receiver.name)
  const look = async () => {
    await route()
    return deliverPending(
      {
        pool: generic,
        log: pino({ level: 'silent' }),
        caller: {
          async call(posting): Promise<CallResult> {
            told.push(JSON.parse(posting?.body ?? '').data.import)
            return { ok: true, httpStatus: 200 }
          },
          async [Symbol.asyncDispose]() {},
        },
        receiver,
        acceptances,
        publicUrl: null,
      },
      new AbortController().signal,
    )
  }
  const before = await rowsRead()
  expect(await look()).toBe(0)
  expect(told).toEqual(['new'])
  expect(await look()).toBeGreaterThan(60_000)
  // At most three times those that wait, for each of the two looks.
  expect((await rowsRead()) - before).toBeLessThan(6 * REFUSED)

  const pagesRead = async () => {
    await generic.query('select pg_stat_force_next_flush()')
    const { rows } = await pool.query<{ n: number }>(
      `select (heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int as n from pg_statio_user_tables
       where relid = 'ferry.events'::regclass`,
    )
    return rows[0]?.n ?? 0
  }
  // What began first of all is over.
  await pool.query(
    `insert into ferry.events (kind, state, account, subject, data) values ('import.paused', 'resolved', 'default', '1', '{"import":"over"}')`,
  )
  const pagesBefore = await pagesRead()
  await route()
  expect((await pagesRead()) - pagesBefore).toBeLessThan(200)
  await look()
  expect(told).toEqual(['new', 'over'])
})
