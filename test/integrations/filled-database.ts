import { Client, type Pool } from 'pg'
import { workImport } from '#src/imports/sending/work.ts'
import { takeSnapshot } from '#src/inventory/history/snapshots.ts'
import { joinReader, prepareReader } from '#src/reports/reader-role.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { stageRows } from '#test/support/staged.ts'

const NEVER = new AbortController().signal

/** A database in which everything has happened at least once, and a client that is the role that only reads. */
export async function openFilledDatabase(): Promise<
  AsyncDisposable & { readonly reader: Client; readonly databaseUrl: string; readonly pool: Pool }
> {
  await using opened = new AsyncDisposableStack()
  const harness = opened.use(
    await openFerryHarness({ rules: 30, servers: 5 }, { FERRY_IMPORT_LIMIT: '50/1s' }),
  )
  await fill(harness)
  const reader = new Client({ connectionString: harness.databaseUrl })
  await reader.connect()
  opened.defer(() => reader.end())
  await prepareReader(harness.ferry.pool)
  await joinReader(harness.ferry.pool)
  await reader.query('set role ferry_reader')
  const kept = opened.move()
  const { databaseUrl } = harness
  return { reader, databaseUrl, pool: harness.ferry.pool, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Runs of every outcome, edits, alerts that began and ended, a hold, and imports that ended well, badly and not yet. */
async function fill(harness: FerryHarness): Promise<void> {
  const { ferry, sandbox } = harness
  const { state } = sandbox
  await takeSnapshot(ferry, { account: 'default', trigger: 'manual' }, NEVER)
  for (let round = 0; round < 3; round++) {
    state.mutate(12, ['rule-changed', 'rule-fired', 'rule-added', 'server-changed', 'rule-removed'])
    await harness.sync()
    await harness.sync({ resource: 'mcp-servers' })
  }
  const ids = [...state.rules.ids()]
  for (const patch of [{ triggered: true }, { enabled: false }, { triggered: false }]) {
    state.changeRule(ids.at(-1) ?? 0n, patch)
    await harness.sync()
  }
  state.inject({ kind: 'wrong-types' }, { operation: 'list-mcp-servers' })
  await harness.sync({ resource: 'mcp-servers' })
  state.clearFaults()
  state.inject({ kind: 'error', code: 'InternalError' }, { operation: 'list-alert-rules' })
  await harness.sync()
  state.clearFaults()
  for (const id of ids.slice(0, 25)) state.removeRule(id)
  await harness.sync()
  const { pool } = ferry
  await workImport(ferry, await stageRows(pool, { rows: 20, batchRows: 5 }), { signal: NEVER })
  await stageRows(pool, {
    status: 'undecided',
    rows: 4,
    batchRows: 2,
    recipient: line => `uncertain${line}@example.com`,
  })
  await pool.query(
    `insert into ferry.import_rejects (import_id, line, origin, reason, message)
     select min(id), 99, 'file', 'invalid address', 'It is no address.' from ferry.imports`,
  )
}
