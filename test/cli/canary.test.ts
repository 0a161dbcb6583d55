import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { openTestRedis, testRedisUrl } from '#test/support/redis.ts'
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
  await waitFor(async () => (await polled()).length > before, { what: 'a poll' })
  worker.child.kill('SIGTERM')
  const { stdout, stderr } = await worker.ended
  return [...printed, stdout, stderr].join('\n')
}

/** Every row of every table of every schema, as text, but of those left out. */
async function everythingStored(cli: Cli, leftOut: readonly string[] = []): Promise<string> {
  const tables = await cli.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema') and not tablename = any ($1)`,
    [leftOut],
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

  test('when Node is told to print what it does', async () => {
    await using cli = await openCli({ appKey: KEY, rules: 3, servers: 3 })
    for (const names of ['undici', 'fetch', 'websocket', 'stream', 'undici,http', '*']) {
      for (const command of ['sync all', 'worker']) {
        const { code, stdout, stderr } = await cli.ferryRun(command, { NODE_DEBUG: names })
        expect(code, names).toBe(2)
        expect(stdout + stderr).toContain('NODE_DEBUG')
        expect(stdout + stderr).not.toContain(CANARY)
      }
    }
    await using talking = cli.ferryStart('sync all', { NODE_DEBUG: 'http,https,http2,net,tls,dns' })
    const { code, stdout, stderr } = await talking.ended
    expect(code).toBe(0)
    expect(stderr).toContain('NET ')
    expect(stdout + stderr).not.toContain(CANARY)
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

/** In every recipient of the file, and nowhere but where recipients belong. */
const PERSON = 'zeisig4b8d'

const TABLES_OF_PEOPLE = ['import_recipients', 'import_rejects', 'import_left_out']

/** Good rows, a bad one, a duplicate, and one that the platform refuses by name. */
function fileOfPeople(cli: Cli): string {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-canary-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'people.csv')
  const good = [1, 2, 3, 4, 5].map(n => `${PERSON}${n}@example.com`)
  const rows = [...good, `${PERSON} is nobody`, `${PERSON}1@EXAMPLE.com`]
  writeFileSync(path, ['recipient', ...rows].join('\n'))
  const message = `the subscriber ${PERSON}3@example.com is not valid, says ${KEY}`
  cli.sandbox.state.inject({ kind: 'error', code: 'InvalidParameter', message }, { nth: 1 })
  return path
}

const importOf = (path: string) => `import ${path} --page ${SANDBOX_PAGE_ID} --all --default-locale en-US`

describe('a recipient appears where recipients are asked for, and nowhere else', () => {
  test('in no other output, log or table, nor in the payload of a job', async () => {
    await using cli = await openCli({ appKey: KEY, rules: 1 }, { FERRY_IMPORT_LIMIT: '50/1s' })
    const path = fileOfPeople(cli)
    await cli.ferryRun(`${importOf(path)} --yes`)
    expect(await everythingStored(cli, TABLES_OF_PEOPLE)).toContain('import-subscribers')
    expect(await everythingStored(cli, TABLES_OF_PEOPLE)).not.toContain(PERSON)

    const about = [
      'show',
      'watch',
      'pause',
      'resume',
      'cancel --yes',
      'resolve --as sent',
      'recipients x@example.com',
    ]
    const commands = [
      `${importOf(path)} --dry-run`,
      'imports resume 1 --wait',
      'imports list',
      ...about.map(verb => `imports ${verb.replace(/(?= )|$/, ' 1')}`),
      `${importOf(path)} --update --on-uncertain hold --yes --wait`,
    ]
    const printed = await everythingPrinted(cli, [
      ...commands,
      ...commands.map(command => `${command} --json`),
    ])
    expect(printed).toContain('completed')
    expect(printed).not.toContain(PERSON)
    expect(printed).not.toContain(CANARY)
    expect(await everythingStored(cli, TABLES_OF_PEOPLE)).not.toContain(PERSON)
    expect(await everythingStored(cli)).toContain(PERSON)
    expect(await everythingStored(cli)).not.toContain(CANARY)

    const asked = [await cli.ferryRun('imports recipients 1'), await cli.ferryRun('imports rejects 1')]
    for (const { stdout, stderr } of asked) {
      expect(stdout).toContain(PERSON)
      expect(stderr).not.toContain(PERSON)
      expect(stdout + stderr).not.toContain(CANARY)
    }
  })

  test.skipIf(!testRedisUrl)('nor in Redis', async () => {
    await using redis = await openTestRedis()
    const settings = { FERRY_IMPORT_LIMIT: '50/1s', REDIS_URL: redis.url }
    await using cli = await openCli({ appKey: KEY }, settings)
    await cli.ferryRun(`${importOf(fileOfPeople(cli))} --yes`)
    const kept = await everythingInRedis(redis.url)
    expect(kept).toContain('import-subscribers')
    expect(kept).not.toContain(PERSON)
    expect(kept).not.toContain(CANARY)
  })
})

async function everythingInRedis(url: string): Promise<string> {
  const redis = new Redis(url)
  const read: Record<string, (key: string) => Promise<unknown>> = {
    string: key => redis.get(key),
    hash: key => redis.hgetall(key),
    list: key => redis.lrange(key, 0, -1),
    set: key => redis.smembers(key),
    zset: key => redis.zrange(key, '0', '-1'),
    stream: key => redis.xrange(key, '-', '+'),
  }
  try {
    const keys = await redis.keys('*')
    const values = await Promise.all(keys.map(async key => read[await redis.type(key)]?.(key)))
    return JSON.stringify([keys, values])
  } finally {
    await redis.quit()
  }
}
