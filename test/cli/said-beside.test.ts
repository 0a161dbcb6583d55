import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test, vi } from 'vitest'
import { finishHere } from '#src/cli/import/confirmed.ts'
import { recordWorker } from '#src/db/workers.ts'
import { ageImport } from '#test/support/age-import.ts'
import { putBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import { commandsIn, examine } from './examine.ts'
import { file, open, PAGE, pathOf } from './import-files.ts'
import { openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

/* What commands say that is said seldom. */

const { isTTY } = process.stdout
afterEach(() => void Object.assign(process.stdout, { isTTY }))

test('a dry run says how a file is written, and that nobody is left to be sent', async () => {
  await using cli = await open()
  const path = pathOf('people.ndjson.gz')
  const row = { recipient: 'a@example.com', component_ids: ['c1', 'c2'], locale: 'en-US' }
  writeFileSync(path, gzipSync(`${JSON.stringify(row)}\n`))
  const { stdout } = await cli.ferryRun(`import ${path} ${PAGE} --dry-run`)
  expect(stdout).toContain(`${path}: NDJSON, compressed with gzip\n`)
  expect(stdout).toMatch(/^ *1 +a…@example\.com +c1, c2 +en-US$/m)
  const none = await cli.ferryRun(`import ${file(['email;locale', 'nobody;en-US'])} ${PAGE} --dry-run`)
  expect(none.stdout).toContain('CSV, separated by semicolon\n')
  expect(none.stdout).toMatch(/^Rejected: 1 of 1 row$/m)
  expect(none.stdout).toMatch(/^No recipients to send\.$/m)
})

test('what is purged is said to programs too, and when to people', async () => {
  await using cli = await openCli()
  await stageRows(cli.ferry.pool, { rows: 3, status: 'completed' })
  expect(jsonLines(await cli.ferryRun('imports purge 1 --yes --json'))).toEqual([
    { import: '1', purgedRows: 3 },
  ])
  expect((await cli.ferryRun('imports show 1')).stdout).toContain('recipients purged 2')
})

test('rejects are written to stdout for people alone, and how many went to a file is said to programs', async () => {
  await using cli = await openCli()
  await stageRows(cli.ferry.pool, { rows: 3, status: 'completed' })
  expect(await cli.ferryRun('imports rejects 1 --json')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('so --json needs --out FILE'),
  })
  const out = pathOf('rejects.csv')
  expect(jsonLines(await cli.ferryRun(`imports rejects 1 --json --out ${out}`))).toMatchObject([
    { import: '1', rejects: 0, file: out },
  ])
})

test('of an import whose calls fail, doctor says so and where they are', async () => {
  await using cli = await openCli()
  const { pool } = cli.ferry
  const id = await stageRows(pool, { rows: 4, status: 'running' })
  await recordWorker(pool, 'w', null, ['default'])
  await cli.query('update ferry.imports set failures = 3')
  const { lines } = await examine(cli, 'imports')
  expect(lines).toMatchObject([
    {
      status: 'warn',
      found: `import ${id} of account default (4 rows left): its last 3 calls failed; Ferry keeps retrying`,
    },
  ])
  expect(commandsIn(lines[0]?.whatToDo)).toEqual([`ferry imports show ${id}`])
})

test('on a narrow terminal, how each batch went is said in one column', async () => {
  await using cli = await openCli()
  const id = await stageRows(cli.ferry.pool, { rows: 6, batchRows: 2, status: 'running' })
  await putBatches(cli.ferry.pool, id, [
    { lines: 2, state: 'uncertain' },
    { lines: 2, state: 'ready' },
  ])
  await cli.query(
    `update ferry.import_batches set http_status = 502, error_code = 'Html', resends = 2 where state = 'uncertain'`,
  )
  const { columns } = process.stdout
  Object.assign(process.stdout, { isTTY: true, columns: 60 })
  const { stdout } = await cli.ferryRun(`imports show ${id}`)
  Object.assign(process.stdout, { isTTY, columns })
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('uncertain 1 HTTP 502, Html, resent 2 times')
  expect(stdout.match(/HTTP/g)).toHaveLength(1)
})

test('an import that ended just as it was interrupted is not called interrupted', async () => {
  await using cli = await openCli()
  const id = await stageRows(cli.ferry.pool, { rows: 2, status: 'completed' })
  const queued = await stageRows(cli.ferry.pool, { rows: 2, pageId: 9n })
  const told = async (one: bigint) => {
    using stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    using _ = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const context = { config: cli.ferry.config, signal: AbortSignal.abort() } as never
    await finishHere(cli.ferry as never, one, {}, context)
    return stderr.mock.calls.join('')
  }
  expect(await told(id)).not.toContain('interrupted')
  expect(await told(queued)).toContain(`ferry: import ${queued} is interrupted; nothing is lost.`)
})

test('a decision about a paused import says that it is to be resumed', async () => {
  await using cli = await openCli()
  const id = await stageRows(cli.ferry.pool, {
    rows: 4,
    batchRows: 2,
    onUncertain: 'hold',
    status: 'running',
  })
  await putBatches(cli.ferry.pool, id, [{ lines: 2, state: 'uncertain' }])
  await ageImport(cli.ferry.pool, id, '1 hour')
  await cli.ferryRun(`imports pause ${id}`)
  const { stdout } = await cli.ferryRun(`imports resolve ${id} --as resend`)
  expect(stdout).toContain(': resuming it sends them.')
})

test('on a terminal, `ferry at` draws when each inventory was read, and says if there is more', async () => {
  await using cli = await openCli({ rules: 3, servers: 1 })
  await cli.sync()
  await cli.sync({ resource: 'mcp-servers' })
  const [server = ''] = cli.sandbox.state.servers.ids()
  cli.sandbox.state.changeServer(server, { tools: [{ name: 'find', description: 'finds' }] })
  await cli.sync({ resource: 'mcp-servers' })
  cli.sandbox.state.changeServer(server, { tools: [{ name: 'find', description: 'finds it' }] })
  for (const id of cli.sandbox.state.rules.ids()) cli.sandbox.state.changeRule(id, { triggered: true })
  await cli.sync()
  await cli.sync({ resource: 'mcp-servers' })
  const plain = await cli.ferryRun('at 0s')
  expect(plain.stdout).toMatch(/find of .* finds → finds it$/m)
  expect(plain.stdout).not.toContain('not known: ?')
  expect((await cli.ferryRun('at 0s --limit 1')).stderr).toContain('there is more. A higher --limit')
  expect(plain.stderr).not.toContain('there is more')
  Object.assign(process.stdout, { isTTY: true })
  const drawn = await cli.ferryRun('at 3h')
  expect(drawn.stdout).toContain('Read: -, not known: ?, the moment: |')
  expect(drawn.stdout).toMatch(/^[?-]{24}\|[? -]{24} alert-rules of default$/m)
})

test('`runs show` lists the values that a run was the first to see', async () => {
  await using cli = await openCli({ rules: 2, servers: 0 })
  await cli.sync()
  await cli.query(`insert into ferry.seen_values (account, resource, field, value, first_run, is_news)
    select account, resource, 'severity', 'odd', id, true from ferry.sync_runs limit 1`)
  const { stdout } = await cli.ferryRun('runs show 1')
  expect(stdout).toMatch(/Values that a field never had before this run\nfield +value\nseverity +odd\n/)
})
