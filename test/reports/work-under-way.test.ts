import { pino } from 'pino'
import { expect, test } from 'vitest'
import { acquireLease, type Lease } from '#src/db/leases.ts'
import { leaseNameOf as pageLeaseName } from '#src/imports/page.ts'
import { startRun } from '#src/inventory/runs/ledger.ts'
import { leaseNameOf } from '#src/inventory/runs/lost-runs.ts'
import { listWorkUnderWay } from '#src/reports/now.ts'
import { takeSlot } from '#src/schedules/slot-lease.ts'
import { NEW_RUN } from '#test/support/runs.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

const log = pino({ level: 'silent' })

test('it shows runs, imports and slots with the worker that does them, and nothing once that is done or lost', async () => {
  await using store = await openTestStore()
  await using opened = new AsyncDisposableStack()
  const { pool } = store
  const work = () => listWorkUnderWay(pool, 10)
  const lease = async (name: string, holder: string) => {
    const lease = (await acquireLease(pool, name, holder, log)) as Lease
    opened.defer(() => lease.release())
    return lease
  }
  expect(await work()).toEqual([])

  const slot = new Date('2026-11-22T03:30:00.025Z')
  const key = { schedule: 'snapshot-inventory', account: 'eu:west' }
  const slotLease = await takeSlot({ pool, holder: 'one', log }, key, slot, { evenIfPaused: false })
  const run = await startRun(pool, NEW_RUN, await lease(leaseNameOf(NEW_RUN), 'one'))
  const page = { account: 'default', pageId: 7n, method: 'email' }
  const first = await stageRows(pool, page)
  await stageRows(pool, page)
  await stageRows(pool, { ...page, pageId: 8n })
  const importLease = await lease(pageLeaseName(page), 'two')
  const slotWork = {
    holder: 'one',
    kind: 'schedule',
    account: 'eu:west',
    name: 'snapshot-inventory',
    number: null,
  }
  const runWork = { holder: 'one', kind: 'run', account: 'default', name: 'alert-rules', number: run }
  const importWork = { holder: 'two', kind: 'import', account: 'default', name: '7', number: first }
  expect(await work()).toMatchObject([slotWork, runWork, importWork])
  expect(await work()).toHaveLength(3)

  // Whoever took the lease over does another run than the one that lost it.
  await pool.query(`update ferry.leases set token = gen_random_uuid() where name = $1`, [
    leaseNameOf(NEW_RUN),
  ])
  expect((await work()).map(({ kind }) => kind)).toEqual(['schedule', 'import'])
  await pool.query(
    `update ferry.leases set token = (select lease_token from ferry.sync_runs where id = $2) where name = $1`,
    [leaseNameOf(NEW_RUN), run],
  )

  await slotLease?.end({ to: 'done', outcome: 'succeeded', supersedes: false })
  await importLease.release()
  expect(await work()).toMatchObject([runWork])
  await pool.query(`update ferry.leases set expires_at = clock_timestamp()`)
  expect(await work()).toEqual([])
})

test('imports by several methods, of several pages and accounts, are sent at once: each has a lease of its own', async () => {
  await using store = await openTestStore()
  const page = { account: 'default', pageId: 7n, method: 'email' }
  const pages = [page, { ...page, method: 'im' }, { ...page, pageId: 8n }, { ...page, account: 'other' }]
  const ids: bigint[] = []
  for (const one of pages) {
    ids.push(await stageRows(store.pool, one))
    await acquireLease(store.pool, pageLeaseName(one), 'one', log)
  }
  expect((await listWorkUnderWay(store.pool, 10)).map(({ number }) => number)).toEqual(ids)
})
