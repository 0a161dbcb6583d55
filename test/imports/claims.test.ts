import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ImportContext } from '#src/imports/context.ts'
import { loadSummary } from '#src/imports/progress.ts'
import type { PlatformClient } from '#src/platform/client.ts'
import { type Claimer, claimBatch } from '#src/store/imports/claims.ts'
import { settleLostClaims } from '#src/store/imports/waiting.ts'
import type { Limit } from '#src/store/throttle.ts'
import { putBatches } from '#test/support/batches.ts'
import { type ImportWorld, recipientsOf, setup } from './import-world.ts'

/** Leaves the import's only batch in flight, as a worker does that dies between two statements. */
async function dieInFlight(world: ImportWorld, id: bigint, before: 'sending' | 'recording'): Promise<void> {
  await world.query(
    `with batch as (
       insert into ferry.import_batches (import_id, from_line, to_line, rows, state, claim, claimed_at, claim_ends_at, call_id)
       select id, 2, last_line, recipients, 'in flight', gen_random_uuid(), now(), now(), case when $2 then 1 end
       from ferry.imports where id = $1)
     update ferry.imports set status = 'running', started_at = now(), batched_to = last_line where id = $1`,
    [id, before === 'recording'],
  )
}

test('a batch whose worker died before it had a slot was never sent', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 3, onUncertain: 'hold' })
  await dieInFlight(world, id, 'sending')
  expect(await world.work(id)).toBe('completed')
  expect(await world.batches(id)).toMatchObject([{ state: 'sent', resends: 0 }])
})

test('a batch whose worker died with a slot is sent again, and the ledger says so', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 3 })
  await dieInFlight(world, id, 'recording')
  expect(await world.work(id)).toBe('completed')
  expect(await world.batches(id)).toMatchObject([{ state: 'sent', resends: 1, uncertain: false }])
})

test('a batch whose worker died with a slot is held if the import wants that', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 3, onUncertain: 'hold' })
  await dieInFlight(world, id, 'recording')
  expect(await world.work(id)).toBe('undecided')
  expect(await world.batches(id)).toMatchObject([{ state: 'uncertain', resends: 0, uncertain: true }])
  expect(world.calls()).toBe(0)
})

test('a batch of uncertain outcome stays so when the worker that was to send it again dies before it did', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 3 })
  await dieInFlight(world, id, 'sending')
  await world.query('update ferry.import_batches set uncertain = true, resends = 1')
  expect(await settleLostClaims(world.ferry.pool)).toBe(1)
  expect(await world.batches(id)).toMatchObject([{ state: 'ready', uncertain: true, resends: 1 }])
  expect(await loadSummary(world.ferry.pool, id)).toMatchObject({ uncertain: 3, pending: 0 })
})

test('what was uncertain, and how often it was sent again, holds for both halves of a batch that is split', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 5, batchRows: 5 })
  const [batch] = await putBatches(world.ferry.pool, id, [{ lines: 5, uncertain: true, resends: 2 }])
  await world.query('select ferry.split_batch($1)', [batch])
  const half = { state: 'ready', uncertain: true, resends: 2 }
  expect(await world.batches(id)).toMatchObject([half, half])
  expect(await loadSummary(world.ferry.pool, id)).toMatchObject({ uncertain: 5, pending: 0 })
})

test('a claim lives for as long as its call may take, and then until the platform must have counted it', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 3 })
  const lives: unknown[] = []
  world.sandbox.state.onCall(async () => {
    lives.push(
      ...(await world.query(
        `select extract(epoch from claim_ends_at - claimed_at)::float8 * 1000 as ms from ferry.import_batches`,
      )),
    )
    return undefined
  })
  await world.work(id)
  // FERRY_REQUEST_TIMEOUT and FERRY_ARRIVAL_BOUND
  expect(lives).toEqual([{ ms: 1_500 }])
})

test('a row larger than a megabyte travels alone', async () => {
  await using world = await setup()
  const recipient = (line: number) =>
    line === 3 ? `${'x'.repeat(1_100_000)}@example.com` : `p${line}@example.com`
  const id = await world.stage({ rows: 4, recipient })
  expect(await world.work(id)).toBe('completed')
  expect((await world.batches(id)).map(batch => batch.from_line)).toEqual(['2', '3', '4'])
  // Nothing else is set back because the platform does not want that one.
  expect(await world.rejects(id)).toMatchObject([{ line: '3' }])
  expect(world.timesDelivered()).toEqual({ once: 3 })
})

test('the first rows are counted as they were asked for, however batches are split and rows rejected', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 30, batchRows: 6, firstRows: 10 })
  world.sandbox.state.onCall(({ body }) => {
    const recipients = recipientsOf(body)
    if (recipients.length > 5) return { kind: 'error', code: 'EntityTooLarge' }
    return recipients.includes('p3@example.com')
      ? { kind: 'error', code: 'InvalidParameter', message: 'p3@example.com is not valid' }
      : undefined
  })
  expect(await world.work(id)).toBe('paused')
  expect(await world.importRow(id)).toMatchObject({ pause_code: 'FirstRowsSent' })
  expect(await loadSummary(world.ferry.pool, id)).toMatchObject({ sent: 9, rejected: 1, pending: 20 })
})

test('a claim is not touched before its time is over, and the import does not end without it', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 3 })
  await dieInFlight(world, id, 'recording')
  await world.query(`update ferry.import_batches set claim_ends_at = now() + interval '1.2 s'`)
  const before = performance.now()
  expect(await world.work(id)).toBe('completed')
  expect(performance.now() - before).toBeGreaterThan(1_000)
})

test('what a dead worker left in flight is settled whatever became of the import', async () => {
  await using world = await setup()
  for (const [status, onUncertain, state] of [
    ['paused', 'resend', 'ready'],
    ['paused', 'hold', 'uncertain'],
    ['cancelled', 'resend', 'uncertain'],
  ] as const) {
    const id = await world.stage({ rows: 3, onUncertain })
    await dieInFlight(world, id, 'recording')
    await world.query('update ferry.imports set status = $2 where id = $1', [id, status])
    expect(await settleLostClaims(world.ferry.pool)).toBe(1)
    expect(await world.batches(id)).toMatchObject([{ state, uncertain: true }])
  }
  expect(await settleLostClaims(world.ferry.pool)).toBe(0)
})

test('an answer that comes after the claim was settled changes nothing but the call log', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 3 })
  world.sandbox.state.onCall(async ({ number }) => {
    if (number > 1) return undefined
    await world.query('update ferry.import_batches set claim_ends_at = clock_timestamp()')
    await settleLostClaims(world.ferry.pool)
    return undefined
  })
  expect(await world.work(id)).toBe('completed')
  expect(world.timesDelivered()).toEqual({ twice: 3 })
  expect(await world.batches(id)).toMatchObject([{ state: 'sent', resends: 1 }])
  expect(await world.query('select http_status from ferry.platform_calls')).toEqual([
    { http_status: 200 },
    { http_status: 200 },
  ])
  expect(await world.importRow(id)).toMatchObject({ accepted: 1 })
})

test('a slot that grew old before anything was sent is given back, and another one taken', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 3, onUncertain: 'hold' })
  const end = await slowly(world, id, async () => {})
  expect(end).toBe('completed')
  expect(world.timesDelivered()).toEqual({ once: 3 })
  const [batch] = await world.batches(id)
  expect(await world.query('select id from ferry.platform_calls')).toEqual([{ id: batch!.call_id }])
  expect(batch!.call_id).not.toBe('1')
})

test('who pauses an import while a slot grows old keeps the batch from being sent', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 3 })
  const end = await slowly(world, id, () => world.query(`update ferry.imports set status = 'paused'`))
  expect(end).toBe('paused')
  expect(world.calls()).toBe(0)
  expect(await world.batches(id)).toMatchObject([
    { state: 'ready', call_id: null, resends: 0, uncertain: false },
  ])
  expect(await world.query('select 1 from ferry.platform_calls')).toEqual([])
})

test('who lost its lease while a slot grew old sends nothing', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 3 })
  const end = await slowly(world, id, () => world.query('update ferry.leases set token = gen_random_uuid()'))
  expect(end).toBe('busy')
  expect(world.calls()).toBe(0)
  await world.query('delete from ferry.leases')
  expect(await world.work(id)).toBe('completed')
})

test('with all connections cut in the middle everybody is sent once, and the ledger knows', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 10, batchRows: 1 })
  world.sandbox.state.onCall(async ({ number }) => {
    if (number === 2 || number === 5) {
      await world.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      )
    }
    return undefined
  })
  expect(await world.work(id)).toBe('completed')
  const resent = (await world.batches(id)).filter(batch => batch.resends > 0).length
  expect(world.timesDelivered().once).toBeGreaterThanOrEqual(10 - resent)
  expect(world.delivered().size).toBe(10)
})

test('of imports that wait for a slot the one served longest ago goes first, as long as it asks', async () => {
  await using world = await setup()
  const limit = { limitKey: 'account:test', windows: [{ most: 1, windowMs: 300 }] }
  const [first, second] = [await claimerOf(world, limit), await claimerOf(world, limit)]
  const ended = () =>
    world.query('update ferry.platform_calls set finished = clock_timestamp() where finished is null')
  expect(await first.claim()).toBe('claimed')
  expect([await second.claim(), await first.claim()]).toEqual(['wait', 'wait'])
  await ended()
  await delay(350)
  expect([await first.claim(), await second.claim()]).toEqual(['wait', 'claimed'])
  await ended()
  await delay(350)
  expect(await first.claim()).toBe('claimed')

  expect(await second.claim()).toBe('wait')
  await ended()
  await world.query(`update ferry.imports set wants_at = wants_at - interval '2 s'`)
  await delay(350)
  expect(await first.claim()).toBe('claimed')
})

/** Claims batches of an import of its own. */
async function claimerOf({ ferry, stage, query }: ImportWorld, limit: Limit) {
  const importId = await stage({ rows: 9, batchRows: 1 })
  await query(`update ferry.imports set status = 'running' where id = $1`, [importId])
  const lease = { name: `test:${importId}`, token: randomUUID() }
  await query(
    `insert into ferry.leases (name, token, holder, acquired_at, expires_at)
     values ($1, $2, 'test', now(), now() + interval '1 h')`,
    [lease.name, lease.token],
  )
  const claimer: Claimer = { pool: ferry.pool, importId, lease, limit, arrivalBoundMs: 500, claimMs: 60_000 }
  return { claim: async () => (await claimBatch(claimer)).what }
}

/** Works on an import with a worker that does `meanwhile` between its claim and its call, until its slot is old. */
async function slowly(world: ImportWorld, id: bigint, meanwhile: () => Promise<unknown>) {
  const context: ImportContext = world.ferry
  const account = context.accounts.get('default')!
  const client: PlatformClient = {
    ...account.client,
    async importSubscribers(batch, call) {
      await meanwhile()
      await delay(world.ferry.arrivalBoundMs / 5 + 50)
      return account.client.importSubscribers(batch, call)
    },
  }
  const accounts = new Map([['default', { ...account, client }]])
  return world.work(id, { ferry: { ...context, accounts } })
}
