import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { type Backfill, findUnfinished, listUnfinished, runBackfill } from '#src/db/backfill.ts'
import { LeaseLost } from '#src/db/leases.ts'
import { BACKFILLS, openBackfills } from '#src/worker/backfills.ts'
import { openTestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

const ROWS = 25
const log = pino({ level: 'silent' })

/** Upper-cases the names of workers, ten in a batch, and notes each row it was given. */
function upperCase(changed: string[], onBatch: () => void = () => {}): Backfill {
  return {
    name: 'planted',
    async changeNext(client, position) {
      onBatch()
      const { rows } = await client.query<{ holder: string }>(
        `with next as (select holder from ferry.workers where holder > coalesce($1, '') order by holder limit 10 for update)
         update ferry.workers w set host = upper(host) from next where w.holder = next.holder returning w.holder`,
        [position],
      )
      const holders = rows.map(row => row.holder).sort()
      changed.push(...holders)
      return holders.at(-1) ?? null
    },
  }
}

async function fill(pool: Pool): Promise<void> {
  await pool.query(
    `insert into ferry.workers (holder, host, pid, accounts, started_at, seen_at)
     select 'w' || lpad(n::text, 3, '0'), 'host', n, '{}', now(), now() from generate_series(1, $1) n`,
    [ROWS],
  )
}

const finished = (pool: Pool) => async () =>
  (await pool.query('select from ferry.backfills where finished_at is not null')).rowCount === 1

test('a backfill changes each row once, in batches, and is not run again', async () => {
  await using store = await openTestStore()
  await fill(store.pool)
  const changed: string[] = []
  const backfill = upperCase(changed)
  const said: object[] = []
  {
    const heard = pino({ base: null, timestamp: false }, { write: line => said.push(JSON.parse(line)) })
    await using _ = openBackfills({ ...store, log: heard, holder: 'a' }, [backfill])
    await waitFor(finished(store.pool), { what: 'the backfill' })
  }
  expect(said).toEqual([{ level: 30, backfill: 'planted', msg: 'A backfill has ended.' }])
  await using _ = openBackfills({ ...store, log, holder: 'b' }, [backfill])
  expect(await findUnfinished(store.pool, [backfill])).toEqual([])
  expect(changed).toHaveLength(ROWS)
  expect(new Set(changed).size).toBe(ROWS)
  const { rows } = await store.pool.query('select position, batches from ferry.backfills')
  expect(rows).toEqual([{ position: 'w025', batches: 4 }])
  expect((await store.pool.query("select from ferry.workers where host <> 'HOST'")).rowCount).toBe(0)
})

test('what one worker left, the next one goes on with, from the last batch that was stored', async () => {
  await using store = await openTestStore()
  await fill(store.pool)
  const before: string[] = []
  let batches = 0
  const failing = upperCase(before, () => {
    if (++batches === 2) throw new Error('it died')
  })
  const told: string[] = []
  {
    const heard = pino({ level: 'warn' }, { write: line => void told.push(line) })
    await using _ = openBackfills({ ...store, log: heard, holder: 'a' }, [failing])
    await waitFor(() => told.length > 0, { what: 'the failure to be logged' })
  }
  expect(told).toEqual([expect.stringContaining('it died')])
  const after: string[] = []
  await using _ = openBackfills({ ...store, log, holder: 'b' }, [upperCase(after)])
  await waitFor(finished(store.pool), { what: 'the backfill' })
  expect([...before, ...after]).toHaveLength(ROWS)
  expect(after[0]).toBe('w011')
})

test('two workers run it once', async () => {
  await using store = await openTestStore()
  await fill(store.pool)
  const changed: string[] = []
  await using _ = openBackfills({ ...store, log, holder: 'a' }, [upperCase(changed)])
  await using __ = openBackfills({ ...store, log, holder: 'b' }, [upperCase(changed)])
  await waitFor(finished(store.pool), { what: 'the backfill' })
  expect(changed).toHaveLength(ROWS)
})

test('a worker whose lease another one has by now changes nothing, though it has not noticed', async () => {
  await using store = await openTestStore()
  await fill(store.pool)
  const lease = { name: 'backfills', token: randomUUID(), signal: new AbortController().signal }
  await store.pool.query(
    "insert into ferry.leases values ($1, $2, 'another', now(), now() + interval '1 h')",
    [lease.name, randomUUID()],
  )
  const changed: string[] = []
  await expect(runBackfill(store.pool, lease, upperCase(changed), lease.signal)).rejects.toThrow(LeaseLost)
  expect(changed).toEqual([])
})

test('those that have not ended are listed by name, known here or not, with how far they are', async () => {
  await using store = await openTestStore()
  await store.pool.query(
    `insert into ferry.backfills (name, position, batches, changed_at, finished_at) values
       ('ended', '9', 9, '2026-01-01Z', '2026-01-01Z'), ('half', '5', 5, '2026-01-02Z', null), ('of another release', '1', 1, '2026-01-03Z', null)`,
  )
  const at = (day: number) => new Date(Date.UTC(2026, 0, day))
  expect(await listUnfinished(store.pool, ['new', 'half', 'ended'])).toEqual([
    { name: 'half', batches: 5, changedAt: at(2) },
    { name: 'new', batches: 0, changedAt: null },
    { name: 'of another release', batches: 1, changedAt: at(3) },
  ])
  const named = (name: string): Backfill => ({ ...upperCase([]), name })
  const all = ['new', 'ended', 'half'].map(named)
  expect(await findUnfinished(store.pool, all)).toEqual([all[0], all[2]])
})

test('no two backfills have one name', () => {
  expect(new Set(BACKFILLS.map(({ name }) => name)).size).toBe(BACKFILLS.length)
})
