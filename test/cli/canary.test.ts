import { describe, expect, test } from 'vitest'
import { type Cli, openCli } from './open-cli.ts'

/** Characters that change when the key is put into an address; the search is for the part that never does. */
const CANARY = 'kanarie7f3a9c'
const KEY = `${CANARY}+/=&%`

const COMMANDS = [
  'migrate',
  'sync all',
  'sync all --plan',
  'snapshots take',
  'snapshots list',
  'snapshots diff 1 1',
  'runs list',
  'runs show 1',
  'runs approve 1',
  'schedules list',
  'schedules run poll-alert-rules',
  'schedules pause poll-alert-rules',
  'schedules resume poll-alert-rules',
  'doctor',
]

/** Runs every command, for people and for programs, with all that can be logged; returns all it printed. */
async function everythingPrinted(cli: Cli, env: Record<string, string> = {}): Promise<string> {
  const printed: string[] = []
  for (const command of COMMANDS) {
    for (const args of [command, `${command} --json`]) {
      const { stdout, stderr } = await cli.ferryRun(args, { FERRY_LOG_LEVEL: 'trace', ...env })
      printed.push(stdout, stderr)
    }
  }
  const worker = cli.ferryStart('worker', { FERRY_LOG_LEVEL: 'trace', ...env })
  await worker.printed('Accounts: default')
  worker.child.kill('SIGTERM')
  const { stdout, stderr } = await worker.ended
  return [...printed, stdout, stderr].join('\n')
}

/** Every row of every table of every schema, as text. */
async function everythingStored(cli: Cli): Promise<string> {
  const tables = await cli.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const rows = await Promise.all(
    tables.map(({ name }) => cli.query<{ row: string }>(`select t::text as row from ${name} t`)),
  )
  expect(tables.map(table => table.name)).toContain('ferry.sync_runs')
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n')
}

describe('the app_key appears in no output and no table', () => {
  test('when all goes well', { timeout: 180_000 }, async () => {
    await using cli = await openCli({ appKey: KEY, rules: 3, servers: 3 })
    const printed = await everythingPrinted(cli)
    expect(printed).toContain('succeeded')
    expect(printed).not.toContain(CANARY)
    expect(await everythingStored(cli)).not.toContain(CANARY)
  })

  test('when the platform refuses it, and repeats it in its words', { timeout: 180_000 }, async () => {
    await using cli = await openCli({ rules: 3, servers: 3 })
    const error = { code: 'Unauthorized', message: `no such key: ${KEY} (${encodeURIComponent(KEY)})` }
    const body = JSON.stringify({ request_id: `about-${KEY}`, error })
    cli.sandbox.state.inject({ kind: 'raw', status: 401, body })
    const printed = await everythingPrinted(cli, { FERRY_APP_KEY: KEY })
    expect(printed).toContain('no such key')
    expect(printed).not.toContain(CANARY)
    expect(await everythingStored(cli)).not.toContain(CANARY)
  })

  test('when the platform is down, or something else answers for it', { timeout: 180_000 }, async () => {
    await using cli = await openCli({ appKey: KEY, rules: 3, servers: 3 })
    const down = await everythingPrinted(cli, { FERRY_BASE_URL: 'http://127.0.0.1:9' })
    expect(down).toContain('could not be reached')
    const page = `<html>you asked for ?app_key=${encodeURIComponent(KEY)}, that is ${KEY}</html>`
    cli.sandbox.state.inject({ kind: 'raw', status: 502, body: page, contentType: 'text/html' })
    const gateway = await everythingPrinted(cli)
    expect(gateway).toContain('NoEnvelope')
    expect(down + gateway).not.toContain(CANARY)
    expect(await everythingStored(cli)).not.toContain(CANARY)
  })
})
