import { expect, test } from 'vitest'
import { LeaseLost } from '#src/db/leases.ts'
import { cancelImport } from '#src/imports/control/cancel.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { putBatches } from '#test/support/batches.ts'
import { expireLeases } from '#test/support/leases.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { openImportHarness } from '../import-harness.ts'
import { stageSent, start } from './start-import.ts'

const loseLeases = (store: TestStore) => () => expireLeases(store.pool)

async function screeningOf(store: TestStore, id: bigint) {
  const { rows } = await store.pool.query('select status, screening_at from ferry.imports where id = $1', [
    id,
  ])
  return rows[0]
}

test('a worker whose lease is lost before it begins changes nothing of the import', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 3 })
  await expect(start(store, id, /"screening_at" = clock_timestamp/, loseLeases(store))).rejects.toThrow(
    LeaseLost,
  )
  expect(await screeningOf(store, id)).toEqual({ status: 'queued', screening_at: null })
})

test('a worker whose lease is lost while it looks for whom others have sent does not mark the import as running', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 3 })
  await expect(start(store, id, /"screening_at" = \$1 is true/, loseLeases(store))).rejects.toThrow(LeaseLost)
  expect(await screeningOf(store, id)).toMatchObject({ status: 'queued' })
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
    const setComponents = (id: bigint, ids: readonly string[]) =>
      store.pool.query(
        'update ferry.import_recipients set "all" = false, component_ids = $2 where import_id = $1',
        [id, ids],
      )
    await setComponents(await stageSent(store, 1), ['a', 'b'])
    const id = await stageRows(store.pool, { rows: 1, update: true })
    await setComponents(id, components)
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
    const { rows } = await store.pool.query('select resends from ferry.import_batches where import_id = $1', [
      id,
    ])
    return rows.map(row => row.resends)
  }
  const other = async () => {
    const id = await stageRows(store.pool, { rows: 3, status: 'cancelled' })
    await putBatches(store.pool, id, [{ lines: 3, state: 'uncertain', uncertain: true }])
  }
  await other()
  const id = await stageRows(store.pool, { rows: 3 })
  await putBatches(store.pool, id, [{ lines: 3, state: 'ready' }])
  await start(store, id)
  expect(await resendsOf(id)).toEqual([1])
  await other()
  await start(store, id)
  expect(await resendsOf(id)).toEqual([2])
})

test('a decision about one import makes another that looks for whom others have sent look again', async () => {
  await using store = await openTestStore()
  const other = await stageRows(store.pool, { rows: 3, status: 'cancelled' })
  const [batch] = await putBatches(store.pool, other, [{ lines: 3, state: 'uncertain', uncertain: true }])
  const id = await stageRows(store.pool, { rows: 3 })
  await store.pool.query('update ferry.imports set screening_at = clock_timestamp() where id = $1', [id])
  await resolveUncertain(store.pool, other, 'sent', batch!)
  expect(await screeningOf(store, id)).toMatchObject({ screening_at: null })
})

test('an import that is decided while another call of it is in flight is not over', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 6, status: 'undecided' })
  const [uncertain] = await putBatches(store.pool, id, [
    { lines: 3, state: 'uncertain', uncertain: true },
    { lines: 3, state: 'in flight', claimEndsInMs: 60_000 },
  ])
  const resolved = await resolveUncertain(store.pool, id, 'sent', uncertain!)
  expect(resolved.status).toBe('queued')
  await cancelImport(store.pool, id)
})

test('a recipient of all components is sent without a list of them', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 1 })
  await harness.query(`update ferry.import_recipients set component_ids = '{a}' where import_id = $1`, [id])
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
