import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { listSummaryRows } from '#src/imports/reporting/summary.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { openCli } from '#test/cli/open-cli.ts'
import { jsonLines } from '#test/cli/run-ferry.ts'
import { onServer } from '#test/support/database.ts'
import { waitFor } from '#test/support/wait-for.ts'

/** Longer than a worker waits before it gives up a statement, and than the claim of a batch lasts. */
const AWAY_MS = 18_000

test('while Postgres accepts no writes nothing is sent twice, and it is said once', async () => {
  const settings = { FERRY_REQUEST_TIMEOUT: '3s', FERRY_ARRIVAL_BOUND: '1s', FERRY_POLL_EVERY: '2s' }
  await using cli = await openCli({ rules: 5 }, settings)
  const { serverUrl } = inject('database')
  const name = new URL(cli.databaseUrl).pathname.slice(1)
  const directory = mkdtempSync(join(tmpdir(), 'ferry-read-only-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'people.csv')
  writeFileSync(file, ['email', ...Array.from({ length: 300 }, (_, n) => `p${n}@example.com`)].join('\n'))
  const options = `--page ${SANDBOX_PAGE_ID} --all --default-locale en-US --batch 100 --yes --json`
  expect((await cli.ferryRun(`import ${file} ${options}`)).code).toBe(0)

  const away = Promise.withResolvers<void>()
  let isAway = false
  cli.sandbox.state.onCall(async call => {
    if (isAway || call.operation !== 'import-subscribers') return undefined
    isAway = true
    await onServer(serverUrl, `alter database ${name} set default_transaction_read_only = on`)
    await onServer(
      serverUrl,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`,
    )
    away.resolve()
    return undefined
  })
  await using worker = cli.ferryStart('worker --json', { FERRY_LOG_LEVEL: 'info' })
  await away.promise
  const doctor = await cli.ferryRun('doctor --json')
  expect(jsonLines(doctor).find(finding => finding.status === 'fail')).toMatchObject({
    check: 'postgres',
    found: expect.stringContaining('accepts no writes'),
  })
  expect(doctor.stdout).not.toContain('report it')
  await new Promise(resolve => setTimeout(resolve, AWAY_MS))
  await onServer(serverUrl, `alter database ${name} reset default_transaction_read_only`)

  const completed = () => listSummaryRows(cli.ferry.pool, 1, { status: 'completed' })
  await waitFor(async () => (await completed()).length === 1, {
    what: 'the import to end',
  })
  expect(
    await cli.query(
      "select distinct resends, uncertain, rows from ferry.import_batches where state = 'sent'",
    ),
  ).toEqual([{ resends: 0, uncertain: false, rows: 100 }])
  await worker.printed('Postgres is available again')
  const said = worker.output.stderr
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line))
  expect(said.filter(line => line.msg.startsWith('Postgres is unavailable'))).toHaveLength(1)
  expect(said.filter(line => line.level >= 50)).toEqual([])
})

test('a worker that starts while Postgres accepts no writes waits for it', async () => {
  await using cli = await openCli()
  await cli.ferryRun('migrate')
  const { serverUrl } = inject('database')
  const name = new URL(cli.databaseUrl).pathname.slice(1)
  await onServer(serverUrl, `alter database ${name} set default_transaction_read_only = on`)
  await using worker = cli.ferryStart('worker --json')
  await worker.printed('Postgres is unavailable')
  await onServer(serverUrl, `alter database ${name} reset default_transaction_read_only`)
  await worker.printed('"queue":"postgres"')
  worker.child.kill('SIGTERM')
  expect((await worker.ended).code).toBe(0)
})
