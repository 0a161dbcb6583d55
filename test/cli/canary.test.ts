import { describe, expect, test } from 'vitest'
import { waitFor } from '#test/support/wait-for.ts'
import { type Cli, openCli } from './open-cli.ts'
import type { Env } from './run-ferry.ts'

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

/** Those that call the platform. */
const CALLING = ['sync all', 'sync all --plan', 'snapshots take', 'doctor']

/** Runs commands and a worker with all that can be logged; returns all they printed. */
async function everythingPrinted(cli: Cli, commands: readonly string[], env: Env = {}): Promise<string> {
  const printed: string[] = []
  for (const command of commands) {
    const { stdout, stderr } = await cli.ferryRun(command, { FERRY_LOG_LEVEL: 'trace', ...env })
    printed.push(stdout, stderr)
  }
  await using worker = cli.ferryStart('worker', { FERRY_LOG_LEVEL: 'trace', FERRY_POLL_EVERY: '1s', ...env })
  const polled = () =>
    cli.query(`select from ferry.sync_runs where trigger = 'schedule' and status <> 'running'`)
  const before = (await polled()).length
  await waitFor(async () => (await polled()).length > before, { what: 'a poll', timeoutMs: 20_000 })
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

describe('the app_key appears in no output and no table', { timeout: 120_000 }, () => {
  test('when all goes well', async () => {
    await using cli = await openCli({ appKey: KEY, rules: 3, servers: 3 })
    const printed = await everythingPrinted(cli, [
      ...COMMANDS,
      ...COMMANDS.map(command => `${command} --json`),
    ])
    expect(printed).toContain('succeeded')
    expect(printed).not.toContain(CANARY)
    expect(await everythingStored(cli)).not.toContain(CANARY)
  })

  test('when the platform refuses it, in its own words or in ours', async () => {
    await using cli = await openCli({ appKey: KEY, rules: 3, servers: 3 })
    const error = { code: 'Unauthorized', message: `no such key: ${KEY} (${encodeURIComponent(KEY)})` }
    const body = JSON.stringify({ request_id: `about-${KEY}`, error })
    cli.sandbox.state.inject({ kind: 'raw', status: 401, body })
    const repeated = await everythingPrinted(cli, CALLING)
    const wrong = await everythingPrinted(cli, CALLING, { FERRY_APP_KEY: `${KEY}-wrong` })
    expect(repeated).toContain('no such key')
    expect(repeated + wrong).not.toContain(CANARY)
    expect(await everythingStored(cli)).not.toContain(CANARY)
  })

  test('when the platform is down, or something else answers for it', async () => {
    await using cli = await openCli({ appKey: KEY, rules: 3, servers: 3 })
    const down = await everythingPrinted(cli, ['sync all', 'doctor'], {
      FERRY_BASE_URL: 'http://127.0.0.1:9',
    })
    const page = `<html>you asked for ?app_key=${encodeURIComponent(KEY)}, that is ${KEY}</html>`
    cli.sandbox.state.inject({ kind: 'raw', status: 502, body: page, contentType: 'text/html' })
    const gateway = await everythingPrinted(cli, ['sync all', 'doctor'])
    expect(down).toContain('could not be reached')
    expect(gateway).toContain('is not from the API')
    expect(down + gateway).not.toContain(CANARY)
    expect(await everythingStored(cli)).not.toContain(CANARY)
  })
})
