import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { openFerry } from '#src/ferry.ts'
import { openEmbeddedHarness } from '../embedded/embedded-harness.ts'
import { freePort } from '../support/own-redis.ts'
import { waitFor } from '../support/wait-for.ts'
import { type Cli, openCli } from './open-cli.ts'
import type { Ended } from './run-ferry.ts'

/** What a person reads of it, on both streams. */
function wordsOf({ stdout, stderr }: Pick<Ended, 'stdout' | 'stderr'>): string {
  const words = stdout + stderr
  expect(words).not.toMatch(/Please report it|is unexpected|hunter2/)
  return words
}

/** The address of the test's database with another place or password. */
function addressOf(cli: Cli, changes: Partial<Pick<URL, 'hostname' | 'port' | 'username'>>): string {
  return Object.assign(new URL(cli.databaseUrl), { password: 'hunter2' }, changes).href
}

const COMMANDS = ['runs list', 'sync all', 'doctor'] as const

test.for(COMMANDS)('`ferry %s` names a Postgres that refuses connections', async command => {
  await using cli = await openCli()
  const port = `${await freePort()}`
  const ended = await cli.ferryRun(command, {
    DATABASE_URL: addressOf(cli, { hostname: '127.0.0.1', port }),
  })
  expect(ended.code).toBe(1)
  expect(wordsOf(ended)).toMatch(
    new RegExp(`Postgres at 127.0.0.1:${port}/\\w+ \\(DATABASE_URL\\) does not answer: .*ECONNREFUSED`),
  )
})

test.for(COMMANDS)('`ferry %s` names a Postgres whose host is unknown', async command => {
  await using cli = await openCli()
  const address = addressOf(cli, { hostname: 'no-such-host.invalid', port: '' })
  const ended = await cli.ferryRun(command, { DATABASE_URL: address })
  expect(ended.code).toBe(1)
  expect(wordsOf(ended)).toMatch(
    /Postgres at no-such-host\.invalid:5432\/\w+ \(DATABASE_URL\) does not answer: .*(ENOTFOUND|EAI_AGAIN)/,
  )
})

test.for(COMMANDS)('`ferry %s` names a Postgres that refuses the password', async command => {
  await using cli = await openCli()
  const { host } = new URL(cli.databaseUrl)
  const ended = await cli.ferryRun(command, { DATABASE_URL: addressOf(cli, { username: 'nobody' }) })
  expect(ended.code).toBe(1)
  const words = wordsOf(ended)
  expect(words).toContain(`Postgres at ${host}/`)
  expect(words).toMatch(/\(DATABASE_URL\) refuses Ferry: password authentication failed/)
  expect(words).toContain('DATABASE_PASSWORD_FILE')
})

test('`ferry doctor` names a Redis that refuses connections or is unknown', async () => {
  await using cli = await openCli()
  const port = await freePort()
  const refused = await cli.ferryRun('doctor', { REDIS_URL: `redis://:hunter2@127.0.0.1:${port}` })
  expect(refused.code).toBe(1)
  expect(wordsOf(refused)).toMatch(
    new RegExp(`Redis at 127.0.0.1:${port} \\(REDIS_URL\\) cannot be used: .*ECONNREFUSED`),
  )
  const unknown = await cli.ferryRun('doctor', { REDIS_URL: 'redis://no-such-host.invalid' })
  expect(wordsOf(unknown)).toMatch(
    /Redis at no-such-host\.invalid:6379 \(REDIS_URL\) cannot be used: .*(ENOTFOUND|EAI_AGAIN)/,
  )
})

test('what needs Redis and does not get it names it too', async () => {
  await using cli = await openCli()
  const port = await freePort()
  const REDIS_URL = `redis://:hunter2@127.0.0.1:${port}`
  await using worker = cli.ferryStart('worker', { REDIS_URL })
  await worker.printed('Waiting for the queue')
  expect(wordsOf(worker.output)).toContain(`Redis at 127.0.0.1:${port} (REDIS_URL) cannot be used`)
  const ended = await cli.ferryRun('schedules run snapshot-inventory', { REDIS_URL })
  expect(ended.code).toBe(0)
  expect(wordsOf(ended)).toContain(`"where":"Redis at 127.0.0.1:${port} (REDIS_URL)"`)
})

test('an embedded Postgres that dies is not blamed on DATABASE_URL', async () => {
  await using place = await openEmbeddedHarness()
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: line => lines.push(line) })
  const config = readConfig({ FERRY_DATA_DIR: place.dataDir })
  await using ferry = await openFerry(config, { log, signal: new AbortController().signal })
  process.kill((await place.postmaster())!.pid, 'SIGQUIT')
  await waitFor(async () => !(await place.postmaster()), { what: 'the server to end' })
  const { port } = new URL(ferry.backend.databaseUrl)
  const name = `Postgres at 127.0.0.1:${port}/ferry (embedded, in FERRY_DATA_DIR) cannot be reached: `
  await expect(ferry.pool.query('select 1')).rejects.toThrow(name)
  expect(lines.join('')).toContain(name)
  expect(lines.join('')).not.toContain('DATABASE_URL')
})

test.for(['sync alert-rules', 'sync all --json', 'doctor'])(
  '`ferry %s` names a platform that refuses connections or is unknown',
  async command => {
    await using cli = await openCli()
    const port = await freePort()
    const refused = await cli.ferryRun(command, { FERRY_BASE_URL: `http://127.0.0.1:${port}` })
    expect(refused.code).toBe(1)
    expect(wordsOf(refused)).toContain(
      `the connection was refused (ECONNREFUSED) at 127.0.0.1:${port} (FERRY_BASE_URL)`,
    )
    const unknown = await cli.ferryRun(command, { FERRY_BASE_URL: 'https://no-such-host.invalid' })
    expect(unknown.code).toBe(1)
    expect(wordsOf(unknown)).toMatch(
      /\((ENOTFOUND|EAI_AGAIN)\) at no-such-host\.invalid:443 \(FERRY_BASE_URL\)/,
    )
  },
)
