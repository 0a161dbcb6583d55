import { expect, test } from 'vitest'
import type { NewRun } from '#src/inventory/runs/ledger.ts'
import { addRun } from '#test/support/runs.ts'
import { addSnapshot } from '#test/support/snapshots.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { brokenOf } from '#test/support/verify.ts'

/* What the checks of the ledger say of a row that breaks a promise: whole sentences, and no other rows. */

const found = ({ pool }: TestStore, ...names: readonly string[]) => brokenOf(pool, names)

const OF_A = { account: 'a', resource: 'alert-rules' } as const

test('a run is named with what does not add up, and what counted other versions than are stored', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const run = (day: number, end: object = {}, more: Partial<NewRun> = {}) =>
    addRun(pool, {
      ...OF_A,
      ...more,
      end: { appliedAt: new Date(Date.UTC(2026, 0, day)).toISOString(), ...end },
    })
  await run(2)
  await run(1)
  await run(1, { seen: 3, unchanged: 2 }, { account: 'b' })
  await run(3, { appliedAt: null })
  await run(4, { status: 'failed' }, { resource: 'mcp-servers' })
  await run(5, { seen: 2, added: 1, changed: 1, removed: 4 }, { account: 'c', resource: 'mcp-servers' })
  await run(6, { fired: 2, recovered: 3 }, { account: 'd' })
  const of = (id: number, account: string, resource = 'alert-rules') =>
    `ferry.sync_runs: run ${id} (${resource} of account ${account})`
  expect(await found(store, 'runs')).toEqual([
    `runs: ${of(2, 'a')} is succeeded, but was applied before an earlier run`,
    `runs: ${of(3, 'b')} saw other rows than added + changed + unchanged + quarantined`,
    `runs: ${of(4, 'a')} is succeeded, but its times are not those of such a run`,
    `runs: ${of(5, 'a', 'mcp-servers')} is failed, but its times are not those of such a run`,
  ])
  expect(await found(store, 'alert-rules counts', 'mcp-servers counts')).toEqual([
    `alert-rules counts: ${of(7, 'd')} counted 2 episodes that began, but 0 are stored`,
    `alert-rules counts: ${of(7, 'd')} counted 3 episodes that ended, but 0 are stored`,
    `mcp-servers counts: ${of(6, 'c', 'mcp-servers')} counted 2 versions that began, but 0 are stored`,
    `mcp-servers counts: ${of(6, 'c', 'mcp-servers')} counted 5 versions that ended, but 0 are stored`,
  ])
})

test('what names a run that does not exist is named, in each table', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const run = await addRun(pool, OF_A)
  const insert = async (table: string, values: string, ...ids: readonly bigint[]) => {
    for (const id of ids)
      await pool.query(`insert into ferry.${table} values (${values.replaceAll('ID', `${id}`)})`)
  }
  await insert(
    'quarantined_rows (run_id, position, reason, fingerprint)',
    `ID, 0, 'broken', gen_random_uuid()`,
    run,
    97n,
  )
  const drift = 'contract_drift (account, resource, field, type, first_run)'
  await insert(drift, `'a', 'alert-rules', 'field ID', 'string', ID`, run, 98n)
  await insert('platform_accounts (account, account_id, first_run)', `'a', ID, ID`, run, 99n)
  const wrong = (table: string, id: number) =>
    `references: ferry.${table}: a row names run ${id}, which does not exist`
  expect(await found(store, 'references')).toEqual([
    wrong('contract_drift', 98),
    wrong('platform_accounts', 99),
    wrong('quarantined_rows', 97),
  ])
})

test('a run by hand is named if nobody is recorded who asked for it, or had its schedule run before it', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const runs: bigint[] = []
  for (const account of ['nobody', 'asked', 'scheduled', 'later', 'paused'])
    runs.push(await addRun(pool, { account, trigger: 'manual' }))
  await addRun(pool, { account: 'by itself', trigger: 'schedule' })
  const act = (account: string, action: string, kind: string, subject: string, at: string) =>
    pool.query(
      `insert into ferry.audit (account, actor, action, subject_kind, subject_id, at) values ($1, 'sam', $2, $3, $4, now() + $5::interval)`,
      [account, action, kind, subject, at],
    )
  await act('asked', 'sync', 'run', `${runs[1]}`, '0')
  await act('nobody', 'approve', 'run', `${runs[0]}`, '-1 h')
  await act('scheduled', 'run', 'schedule', 'poll-alert-rules', '-1 h')
  await act('later', 'run', 'schedule', 'poll-alert-rules', '1 h')
  await act('paused', 'pause', 'schedule', 'poll-alert-rules', '-1 h')
  const wrong = (account: string, n: number) =>
    `runs by hand: ferry.sync_runs: run ${runs[n]} (alert-rules of account ${account}) was asked for by hand, but ferry.audit does not say by whom`
  expect(await found(store, 'runs by hand')).toEqual([
    wrong('nobody', 0),
    wrong('later', 3),
    wrong('paused', 4),
  ])
  await act('*', 'run', 'schedule', 'snapshot-inventory', '-1 h')
  expect(await found(store, 'runs by hand')).toEqual([])
})

test('a snapshot is named with the run that it lacks, or with what it claims wrongly', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const day = (n: number) => new Date(Date.UTC(2026, 0, n)).toISOString()
  const run = async (
    status: 'succeeded' | 'partial' | 'held',
    resource: NewRun['resource'],
    appliedAt: string | null = day(2),
    account = 'a',
  ) => Number(await addRun(pool, { account, resource, end: { status, appliedAt } }))
  const [rules, held] = [await run('succeeded', 'alert-rules'), await run('held', 'alert-rules')]
  const [servers, partial] = [await run('succeeded', 'mcp-servers'), await run('partial', 'mcp-servers')]
  const [unapplied, ofB] = [
    await run('succeeded', 'mcp-servers', null),
    await run('succeeded', 'mcp-servers', day(2), 'b'),
  ]
  const snapshot = (runs: [number, number], status = 'succeeded', takenAt = day(2)) =>
    addSnapshot(pool, 'a', takenAt, { runs, status })
  await snapshot([rules, servers])
  await snapshot([held, partial], 'held')
  await snapshot([rules, partial], 'partial')
  await snapshot([servers, servers])
  await snapshot([rules, unapplied])
  await snapshot([rules, ofB])
  await snapshot([rules, servers], 'succeeded', '2026-01-01T23:59:59.999Z')
  await snapshot([held, partial], 'partial')
  await snapshot([rules, servers], 'held')
  const wrong = (id: number, what: string) =>
    `snapshots: ferry.snapshots: snapshot ${id} of account a ${what}`
  const broken = [
    wrong(4, 'names no applied run of alert-rules'),
    wrong(5, 'names no applied run of mcp-servers'),
    wrong(6, 'names no applied run of mcp-servers'),
    wrong(7, 'is older than its runs, or than the history'),
    wrong(8, 'is partial, which is not the worse status of its runs'),
    wrong(9, 'is held, which is not the worse status of its runs'),
  ]
  expect(await found(store, 'snapshots')).toEqual(broken)
  await pool.query('insert into ferry.history (starts_at) values ($1)', [day(3)])
  const older = 'is older than its runs, or than the history'
  expect((await found(store, 'snapshots')).slice(0, 3)).toEqual([
    wrong(1, older),
    wrong(2, older),
    wrong(3, older),
  ])
})
