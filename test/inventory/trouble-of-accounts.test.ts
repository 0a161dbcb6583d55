import { expect, test } from 'vitest'
import { listWithoutSnapshot } from '#src/inventory/history/snapshots.ts'
import { listFailing } from '#src/inventory/runs/failing-runs.ts'
import { recordSkipped, startRun } from '#src/inventory/runs/ledger.ts'
import { addRun, NEW_RUN } from '#test/support/runs.ts'
import { addSnapshot } from '#test/support/snapshots.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

/* What is told of accounts: nights without a snapshot, and inventories whose runs fail. Each bound exactly. */

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour))
const NIGHT = at(3)

/** A run that began at an hour. */
async function startedAt({ pool }: TestStore, account: string, hour: number, resource = 'alert-rules') {
  const run = await addRun(pool, { account, resource: resource as 'alert-rules' })
  await pool.query('update ferry.sync_runs set started_at = $2 where id = $1', [run, at(hour)])
}

test('a night is missed by an account that was read before it and has no snapshot from then on', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await startedAt(store, 'missed', 2)
  await startedAt(store, 'missed', 4)
  await startedAt(store, 'read at the night', 3)
  await startedAt(store, 'read later', 4)
  await startedAt(store, 'servers only', 1, 'mcp-servers')
  const taken = { 'taken then': 3, 'taken later': 5, 'taken before': 2 }
  for (const [account, hour] of Object.entries(taken)) {
    await startedAt(store, account, 1)
    await addSnapshot(pool, account, at(hour).toISOString())
  }
  const accounts = [
    'missed',
    'read at the night',
    'read later',
    'servers only',
    'never read',
    ...Object.keys(taken),
  ]
  const missing = async (night: Date) => {
    const due = accounts.map(account => ({ account, night }))
    return (await listWithoutSnapshot(pool, due)).toSorted()
  }
  expect(await missing(NIGHT)).toEqual(['missed', 'taken before'])
  expect(await missing(at(1))).toEqual([])
  expect(await missing(at(6))).toEqual([
    'missed',
    'read at the night',
    'read later',
    'taken before',
    'taken later',
    'taken then',
  ])
  expect(await listWithoutSnapshot(pool, [{ account: 'taken before', night: NIGHT }])).toEqual([
    'taken before',
  ])
})

test('an inventory is failing if its last three runs failed, with the last one and its code', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const fail = (
    account: string,
    errorCode: string | null,
    resource: 'alert-rules' | 'mcp-servers' = 'alert-rules',
  ) => addRun(pool, { account, resource, end: { status: 'failed', appliedAt: null, errorCode } })
  for (const code of ['First', 'Second']) await fail('a', code)
  await fail('a', 'OfServers', 'mcp-servers')
  expect(await listFailing(pool, ['a'])).toEqual([])
  const third = await fail('a', 'Third')
  const [ofA] = await listFailing(pool, ['a'])
  expect(ofA).toEqual({ account: 'a', inventory: 'alert-rules', run: `${third}`, code: 'Third' })
  // A run that is skipped or under way says nothing.
  await recordSkipped(pool, { ...NEW_RUN, account: 'a' }, 'another one')
  await startRun(pool, { ...NEW_RUN, account: 'a' }, { token: '00000000-0000-0000-0000-000000000000' })
  expect(await listFailing(pool, ['a', 'b'])).toEqual([ofA])
  for (const code of ['x', 'y']) await fail('b', code, 'mcp-servers')
  const last = await fail('b', null, 'mcp-servers')
  const ofB = { account: 'b', inventory: 'mcp-servers', run: `${last}`, code: null }
  expect(await listFailing(pool, ['a', 'b'])).toEqual([ofA, ofB])
  expect(await listFailing(pool, ['b'])).toEqual([ofB])
  await addRun(pool, { account: 'a', end: { status: 'partial' } })
  expect(await listFailing(pool, ['a', 'b'])).toEqual([ofB])
})
