import { expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { NothingToApprove, rejectRun } from '#src/inventory/holds/approve.ts'
import { fenceWithHold, HoldEnded, loadHeldIds, lockOpenHold } from '#src/inventory/holds/holds.ts'
import { loadRejectedIds } from '#src/inventory/holds/rejected-rows.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { rules, syncListed, upTo } from './scripted-account.ts'

/* Decisions about holds that meet each other, or a hold of another inventory. */

const EVERYTHING = rules(upTo(40))
const HALF = EVERYTHING.slice(0, 20)
const DEFAULT_RULES = { account: 'default', resource: 'alert-rules' } as const
const HELD = new Set(upTo(40).slice(20).map(String))

/** An inventory of each account, of which twenty rows are held; and the last runs that found them gone. */
async function openHeld(...accounts: string[]) {
  const harness = await openFerryHarness({ rules: 0, servers: 0 })
  const runs: bigint[] = []
  for (const account of accounts) {
    await syncListed(harness, [EVERYTHING], { account })
    await syncListed(harness, [HALF], { account })
    const held = await syncListed(harness, [HALF], { account })
    expect(held.status).toBe('held')
    runs.push(held.run)
  }
  return Object.assign(harness, { runs })
}

/** Waits until somebody waits for a lock. */
function blocked(harness: FerryHarness): Promise<unknown> {
  return waitFor(async () => (await harness.query(WAITING_FOR_LOCK)).length > 0, {
    what: 'somebody to wait for a lock',
  })
}

const END = `update ferry.removal_holds set ended_at = clock_timestamp(), outcome = 'approved'`

test('a rejection waits for a decision under way, and finds that there is nothing to reject any more', async () => {
  await using harness = await openHeld('default')
  let rejecting: Promise<unknown> | undefined
  await inTransaction(harness.ferry.pool, async client => {
    await fenceWithHold(client, harness.runs[0]!, HELD)
    rejecting = rejectRun(harness.ferry, harness.runs[0]!, ADA)
    rejecting.catch(() => {}) // looked at below
    await blocked(harness)
    await client.query(END)
  })
  await expect(rejecting).rejects.toThrow(NothingToApprove)
  expect(await harness.query('select outcome, rejected_ids from ferry.removal_holds')).toEqual([
    { outcome: 'approved', rejected_ids: null },
  ])
  expect(await harness.query('select from ferry.audit')).toEqual([])
})

test('an approval waits for a decision under way, and finds that its hold has ended', async () => {
  await using harness = await openHeld('default')
  const other = await harness.ferry.pool.connect()
  await other.query(`begin; ${END}`)
  const fencing = inTransaction(harness.ferry.pool, client => fenceWithHold(client, harness.runs[0]!, HELD))
  fencing.catch(() => {}) // looked at below
  await blocked(harness)
  await other.query('commit')
  other.release()
  await expect(fencing).rejects.toThrow(HoldEnded)
})

test('a run holds what it found gone, not what later runs did', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  for (const listed of [EVERYTHING, EVERYTHING]) await syncListed(harness, [listed])
  const runs = [await syncListed(harness, [EVERYTHING.slice(0, 28)]), await syncListed(harness, [HALF])]
  const counts = runs.map(({ run }) => loadHeldIds(harness.ferry.pool, run).then(ids => ids.length))
  expect(await Promise.all(counts)).toEqual([12, 20])
})

test('a rejection waits for a run that decides about the rows that are absent', async () => {
  await using harness = await openHeld('default')
  let rejecting: Promise<unknown> | undefined
  await inTransaction(harness.ferry.pool, async client => {
    await lockOpenHold(client, DEFAULT_RULES)
    rejecting = rejectRun(harness.ferry, harness.runs[0]!, ADA)
    await blocked(harness)
    expect((await loadRejectedIds(client, DEFAULT_RULES)).size).toBe(0)
  })
  expect(await rejecting).toBe(20)
})

test('a run that waited for a rejection keeps what was left held from being decided about', async () => {
  await using harness = await openHeld('default')
  const other = await harness.ferry.pool.connect()
  await other.query(`begin; ${END}`)
  await other.query(`insert into ferry.removal_holds (account, resource, opened_by_run, last_run, ids, since_runs)
    select account, resource, opened_by_run, last_run, ids, since_runs from ferry.removal_holds`)
  let rejecting: Promise<unknown> | undefined
  const deciding = inTransaction(harness.ferry.pool, async client => {
    await lockOpenHold(client, DEFAULT_RULES)
    rejecting = rejectRun(harness.ferry, harness.runs[0]!, ADA)
    await blocked(harness)
  })
  await blocked(harness)
  await other.query('commit')
  other.release()
  await deciding
  expect(await rejecting).toBe(20)
})

test('a rejection of one inventory leaves that of another as it is', async () => {
  await using harness = await openHeld('one', 'two')
  for (const run of harness.runs) expect(await rejectRun(harness.ferry, run, ADA)).toBe(20)
  for (const [n, account] of ['one', 'two'].entries()) {
    const rejected = await loadRejectedIds(harness.ferry.pool, { account, resource: 'alert-rules' })
    expect(new Set(rejected.values())).toEqual(new Set([`${harness.runs[n]}`]))
    expect(rejected.size).toBe(20)
  }
  expect(
    await harness.query('select account, action, subject_kind, subject_id from ferry.audit order by id'),
  ).toEqual(
    ['one', 'two'].map((account, n) => ({
      account,
      action: 'reject',
      subject_kind: 'run',
      subject_id: `${harness.runs[n]}`,
    })),
  )
  // A complete listing of one folder, or of one account, narrows nothing of the others.
  await syncListed(harness, [EVERYTHING], { account: 'two', folders: [2n] })
  await syncListed(harness, [EVERYTHING], { account: 'one' })
  const sizes = ['one', 'two'].map(account =>
    loadRejectedIds(harness.ferry.pool, { account, resource: 'alert-rules' }).then(({ size }) => size),
  )
  expect(await Promise.all(sizes)).toEqual([0, 20])
})

test('the run of one resource has none of the rows that a hold of the other, made around it, has', async () => {
  await using harness = await openFerryHarness({ rules: 15, servers: 15 })
  const MCP = { resource: 'mcp-servers' } as const
  for (const request of [{}, MCP]) await harness.sync(request)
  harness.sandbox.state.replaceRulesBody('[]')
  for (const server of harness.sandbox.state.servers.rows().slice(1))
    harness.sandbox.state.removeServer(server.server_id)
  const before = await harness.sync()
  const servers = await harness.sync(MCP)
  const after = await harness.sync()
  expect([before, servers, after].map(({ status }) => status)).toEqual(['held', 'held', 'held'])
  expect(await loadHeldIds(harness.ferry.pool, servers.run)).toHaveLength(14)
  expect(await rejectRun(harness.ferry, servers.run, ADA)).toBe(14)
  expect(await harness.query('select resource from ferry.removal_holds where ended_at is null')).toEqual([
    { resource: 'alert-rules' },
  ])
})

test('a run that held nothing rejects nothing, though a hold was made before it and updated after it', async () => {
  await using harness = await openHeld('default')
  const first = await syncListed(harness, [EVERYTHING], { folders: [1n] })
  const between = await syncListed(harness, [EVERYTHING], { folders: [2n] })
  expect([first.status, between.status]).toEqual(['succeeded', 'succeeded'])
  expect((await syncListed(harness, [HALF])).status).toBe('held')
  await expect(rejectRun(harness.ferry, between.run, ADA)).rejects.toThrow(NothingToApprove)
})
