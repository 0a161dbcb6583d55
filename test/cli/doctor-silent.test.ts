import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { openCheckedSandbox } from '#test/support/sandbox.ts'
import { openSilentProxy } from '#test/support/silent-proxy.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { accountsFile, openCli } from './open-cli.ts'
import { jsonLines, runFerryHere } from './run-ferry.ts'
import { canOpenTerminal, inTerminal, linesOf } from './terminal.ts'

/*
 * What doctor says of servers that take a connection and then say nothing. That it ends is by its own bound: the time limits
 * of the work itself are longer than that of these tests.
 */

const NO_ACCOUNT = { FERRY_BASE_URL: '', FERRY_APP_KEY: '' }

const SLOW = { FERRY_REQUEST_TIMEOUT: '10m' }

test('ten accounts, of which nine hang, are asked at the same time, once, and each is named', async () => {
  await using cli = await openCli({ rules: 2 })
  await using hanging = await openCheckedSandbox({ limits: false })
  hanging.state.inject({ kind: 'hang' })
  const keys = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`KEY_${n}`, `key-${n}`]))
  for (const key of Object.values(keys)) for (const { state } of [cli.sandbox, hanging]) state.addKey({ key })
  const accounts = Array.from({ length: 10 }, (_, n) => ({
    name: `account-${n}`,
    baseUrl: n === 4 ? cli.sandbox.baseUrl : hanging.baseUrl,
    appKeyEnv: `KEY_${n}`,
  }))
  const ended = await cli.ferryRun('doctor --json', {
    ...NO_ACCOUNT,
    ...SLOW,
    FERRY_ACCOUNTS_FILE: accountsFile(...accounts),
    ...keys,
  })
  expect(ended).toMatchObject({ code: 1, stderr: '' })
  const found = jsonLines(ended).filter(({ check }) => check === 'platform')
  const expected = accounts.flatMap(({ name }, n) =>
    n === 4
      ? [
          ['ok', name],
          ['ok', name],
        ]
      : [
          ['fail', `account ${name}: the platform did not answer list-mcp-servers within 5 s`],
          ['fail', `account ${name}: the platform did not answer list-alert-rules within 5 s`],
        ],
  )
  expect(
    found.map(({ status, found }) => [
      status,
      status === 'ok' ? /account ([\w-]+)/.exec(`${found}`)?.[1] : found,
    ]),
  ).toEqual(expected)
  expect(hanging.state.received).toHaveLength(18)
  // Each was waited for until its time was up: the last one began before that.
  expect(
    await cli.query(
      `select count(*)::int as calls, max(started) < min(counted_by) as together
       from ferry.platform_calls where account <> 'account-4'`,
    ),
  ).toEqual([{ calls: 18, together: true }])
})

test('a platform that fails is asked once', async () => {
  await using cli = await openCli()
  cli.sandbox.state.onCall(() => ({ kind: 'error', code: 'InternalError' }))
  expect((await cli.ferryRun('doctor')).code).toBe(1)
  expect(cli.sandbox.state.received).toHaveLength(2)
})

test('a listing that has begun, and is too long for doctor, is no failure', async () => {
  await using cli = await openCli({ rules: 500 })
  await using slow = await openHalfAnswers(cli.sandbox.baseUrl)
  const { stdout } = await cli.ferryRun('doctor', { ...SLOW, FERRY_BASE_URL: slow.baseUrl })
  expect(stdout).toMatch(/^ok {4}platform +account default: the platform lists \d+ MCP servers/m)
  expect(stdout).toMatch(
    /^ok {4}platform +account default: the platform lists at least \d+ alert rules; the listing did not end within 5 s/m,
  )
})

/** Passes calls on to a platform. Of a listing of alert rules it gives half of the answer, and then nothing. */
async function openHalfAnswers(baseUrl: string): Promise<AsyncDisposable & { readonly baseUrl: string }> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request))
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${baseUrl}${request.url}`, { method: 'POST', headers, body })
    const text = await answer.text()
    response.writeHead(answer.status, headers)
    if (request.url?.startsWith('/monit/')) response.write(text.slice(0, text.length / 2))
    else response.end(text)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

test.skipIf(!canOpenTerminal)('on a terminal it shows what it waits for', async () => {
  await using cli = await openCli()
  cli.sandbox.state.inject({ kind: 'hang' })
  const shown = await inTerminal(['doctor'], { ...cli.env, ...SLOW }, { columns: 200 })
  expect(shown.code).toBe(1)
  expect(linesOf(shown).join('\n')).toMatch(/… waiting for the platform: default/)
  expect(linesOf(shown).at(-2)).toContain('workers wait for FERRY_REQUEST_TIMEOUT')
})

test('a database that says nothing is named, and Redis is checked all the same', async () => {
  await using database = await openSilentProxy('postgres://127.0.0.1:9', 9)
  await using redis = await openSilentProxy('redis://127.0.0.1:9', 9)
  database.fallSilent()
  redis.fallSilent()
  const ended = await runFerryHere(['doctor', '--json'], {
    DATABASE_URL: database.through('postgres://me:hunter2@127.0.0.1:9/x'),
    REDIS_URL: redis.through('redis://127.0.0.1:9'),
    FERRY_BASE_URL: 'https://x.example',
    FERRY_APP_KEY: 'k',
  })
  expect(jsonLines(ended)).toMatchObject([
    { check: 'configuration' },
    {
      check: 'postgres',
      status: 'fail',
      found: expect.stringMatching(/^Postgres at 127.0.0.1:\d+\/x \(DATABASE_URL\) (did|does) not answer/),
    },
    { check: 'queue', status: 'fail' },
  ])
  expect(ended.code).toBe(1)
})

test('a database that falls silent meanwhile is named once', async () => {
  await using cli = await openCli()
  await using proxy = await openSilentProxy(cli.databaseUrl, 5432)
  cli.sandbox.state.inject({ kind: 'hang' })
  const ending = cli.ferryRun('doctor --json', { ...SLOW, DATABASE_URL: proxy.through(cli.databaseUrl) })
  await waitFor(() => cli.sandbox.state.received.length === 2, { what: 'both calls' })
  proxy.fallSilent()
  const ended = await ending
  expect(jsonLines(ended).filter(({ status }) => status === 'fail')).toMatchObject([
    {
      check: 'postgres',
      found: 'the database did not answer within 5 s',
      whatToDo: expect.stringContaining('overloaded'),
    },
  ])
  expect(ended.code).toBe(1)
})

test('a Redis that says nothing is named, and the rest is checked', async () => {
  await using cli = await openCli()
  await using redis = await openSilentProxy('redis://127.0.0.1:9', 9)
  redis.fallSilent()
  const ended = await cli.ferryRun('doctor --json', { REDIS_URL: redis.through('redis://127.0.0.1:9') })
  const findings = jsonLines(ended)
  expect(findings.filter(({ status }) => status === 'fail')).toMatchObject([{ check: 'queue' }])
  expect(findings.at(-1)).toMatchObject({ check: 'platform', status: 'ok' })
})
