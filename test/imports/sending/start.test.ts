import { expect, test } from 'vitest'
import { LeaseLost } from '#src/db/leases.ts'
import { pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { ADA } from '#test/support/acted-by.ts'
import { expireLeases } from '#test/support/leases.ts'
import { ACCEPTED, openScriptedWorker } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { openImportHarness } from '../import-harness.ts'
import { cutBatch, leaveUncertain, stageSent, start } from './start-import.ts'

const loseLeases = (store: TestStore) => () => expireLeases(store.pool)

async function exclusionOf(store: TestStore, id: bigint) {
  const { rows } = await store.pool.query(
    'select status, excluding_to_call from ferry.imports where id = $1',
    [id],
  )
  return rows[0]
}

test('a worker whose lease is lost before it begins changes nothing of the import', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 3 })
  await expect(start(store, id, /"excluding_to_call" = \(select/, loseLeases(store))).rejects.toThrow(
    LeaseLost,
  )
  expect(await exclusionOf(store, id)).toEqual({ status: 'queued', excluding_to_call: null })
})

test('a worker whose lease is lost while it looks for whom others have sent does not mark the import as running', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 3 })
  await expect(start(store, id, /set "status" = /, loseLeases(store))).rejects.toThrow(LeaseLost)
  expect(await exclusionOf(store, id)).toMatchObject({ status: 'queued' })
})

test('a worker whose lease is lost while it looks leaves out nobody', async () => {
  await using store = await openTestStore()
  await stageSent(store, 3)
  const id = await stageRows(store.pool, { rows: 3 })
  await expect(start(store, id, /^\s*with recursive page/, loseLeases(store))).rejects.toThrow(LeaseLost)
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 0, pending: 3 })
})

test('an import that waits for a decision about another says about how many of its rows', async () => {
  await using store = await openTestStore()
  await stageRows(store.pool, { rows: 3, status: 'undecided' })
  const id = await stageRows(store.pool, { rows: 5 })
  expect(await start(store, id)).toMatchObject({ status: 'paused' })
  const { rows } = await store.pool.query('select pause_message from ferry.imports where id = $1', [id])
  expect(rows[0].pause_message).toContain('Import 1 may have sent 3 rows of it')
  // As long as nobody decides, it waits, however often it is resumed.
  await resumeImport(store.pool, id, ADA)
  expect(await start(store, id)).toMatchObject({ status: 'paused' })
})

test('an import that starts again began when it started first', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 3 })
  const startedAt = async () =>
    (await store.pool.query('select started_at from ferry.imports')).rows[0].started_at
  await start(store, id)
  const first = await startedAt()
  await start(store, id)
  expect(await startedAt()).toEqual(first)
  await pauseImport(store.pool, id, ADA)
  await resumeImport(store.pool, id, ADA)
  expect(await start(store, id)).toMatchObject({ status: 'running' })
  expect(await startedAt()).toEqual(first)
})

test.for([
  ['the same components', ['a', 'b'], 1],
  ['the same components in another order', ['b', 'a'], 1],
  ['fewer components', ['a'], 0],
  ['more components', ['a', 'b', 'c'], 0],
] as const)(
  'an update with %s as were sent leaves the row out, or sends it',
  async ([, components, leftOut]) => {
    await using store = await openTestStore()
    const withComponents = (...componentIds: string[]) => ({ rows: 1, settings: () => ({ componentIds }) })
    await stageRows(store.pool, { ...withComponents('a', 'b'), status: 'completed' })
    const id = await stageRows(store.pool, { ...withComponents(...components), update: true })
    await start(store, id)
    expect(await loadSummary(store.pool, id)).toMatchObject({
      alreadyImported: leftOut,
      pending: 1 - leftOut,
    })
  },
)

test('a batch that may have been sent by others counts as resent once for each of their calls, however often it starts', async () => {
  await using store = await openTestStore()
  const resendsOf = async (id: bigint) => {
    const { batches } = await reportImport(store.pool, id)
    return batches.map(batch => batch.resends)
  }
  const other = async () => leaveUncertain(store, await stageRows(store.pool, { rows: 3 }))
  const id = await stageRows(store.pool, { rows: 3 })
  await cutBatch(store, id)
  await other()
  await start(store, id)
  expect(await resendsOf(id)).toEqual([1])
  await other()
  await start(store, id)
  expect(await resendsOf(id)).toEqual([2])
})

test('a decision about one import makes another that looks for whom others have sent look again', async () => {
  await using store = await openTestStore()
  const other = await stageRows(store.pool, { rows: 3 })
  const batch = await leaveUncertain(store, other)
  const id = await stageRows(store.pool, { rows: 3 })
  const seen: unknown[] = []
  const decide = async () => {
    seen.push((await exclusionOf(store, id)).excluding_to_call)
    await resolveUncertain(store.pool, other, 'sent', ADA, { batchId: batch })
    seen.push((await exclusionOf(store, id)).excluding_to_call)
  }
  await start(store, id, /^fetch/, decide)
  expect(seen).toEqual([expect.any(String), null])
})

test('an import that is decided while another call of it is in flight is not over', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 6, batchRows: 3, status: 'undecided' })
  const [first, second] = (await reportImport(store.pool, id)).batches.map(batch => BigInt(batch.id))
  expect(await resolveUncertain(store.pool, id, 'resend', ADA, { batchId: first! })).toMatchObject({
    status: 'queued',
  })
  await using worker = await openScriptedWorker(store.pool, id)
  const claim = await worker.claim()
  expect(await resolveUncertain(store.pool, id, 'sent', ADA, { batchId: second! })).toMatchObject({
    status: 'running',
  })
  expect((await worker.end()).what).toBe('wait')
  await worker.send(claim, ACCEPTED)
  expect(await worker.end()).toEqual({ what: 'ended', status: 'completed' })
})

test('a recipient of all components is sent without a list of them', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 1 })
  const bodies: unknown[] = []
  harness.sandbox.state.onCall(({ body }) => {
    bodies.push(body)
    return undefined
  })
  await harness.work(id)
  expect(bodies).toMatchObject([{ subscribers: [{ recipient: 'p2@example.com', all: true }] }])
  expect(
    JSON.stringify(bodies, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  ).not.toContain('component_ids')
})
