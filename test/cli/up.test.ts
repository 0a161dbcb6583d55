import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findPostmaster } from '#src/embedded/server.ts'
import { leasesOf } from '#test/support/leases.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { openCli } from './open-cli.ts'
import { jsonLines, runFerryHere, startFerry } from './run-ferry.ts'

async function emptyDataDir(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ferry-up-test-'))
  await chmod(dataDir, 0o755)
  onTestFinished(() => rm(dataDir, { recursive: true }))
  return dataDir
}

describe('ferry up without any setting', () => {
  test('serves the sandbox to other commands here, and leaves nothing behind', async () => {
    const dataDir = await emptyDataDir()
    const env = { FERRY_DATA_DIR: dataDir }
    await using up = startFerry(['up'], env)
    await up.printed('Ferry is up')
    const [, http = ''] = /^HTTP: +(http:\/\/127\.0\.0\.1:\d+)\/readyz/m.exec(up.output.stdout) ?? []
    expect((await fetch(`${http}/readyz`)).status).toBe(200)
    const tokenFile = join(dataDir, 'console-token')
    const token = readFileSync(tokenFile, 'utf8').trim()
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600)
    expect(up.output.stdout + up.output.stderr).not.toContain(token)
    const [, signIn = ''] = /^Console: +(http:\S+)$/m.exec(up.output.stdout) ?? []
    expect(signIn).toContain(`${http}/sign-in?code=`)
    const signedIn = await fetch(signIn, { redirect: 'manual' })
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    const bearing = { authorization: `Bearer ${token}` }
    for (const headers of [{ cookie }, bearing]) {
      expect(await (await fetch(`${http}/`, { headers })).text()).toContain('<title>Now · Ferry</title>')
    }
    for (const door of ['/', '/metrics']) {
      expect((await fetch(http + door)).status).toBe(401)
      expect((await fetch(http + door, { headers: bearing })).status).toBe(200)
    }
    expect(Object.keys((await (await fetch(`${http}/freshness`)).json()) as object)).toEqual(['fresh'])
    expect(up.output.stdout.split('\n')[0]).toMatch(
      /^No platform account is configured: .* SANDBOX .* "sandbox"/,
    )
    expect(up.output.stdout).toMatch(/^poll-alert-rules +sandbox +every 1 min/m)
    await up.printed(
      'First sync since the start, alert-rules of account sandbox: succeeded, 40 listed, 40 added',
    )
    await up.printed(
      'First sync since the start, mcp-servers of account sandbox: succeeded, 25 listed, 25 added',
    )
    expect(statSync(join(dataDir, 'sandbox.json')).mode & 0o777).toBe(0o600)

    await using third = startFerry(['up'], {
      DATABASE_URL: 'postgres://127.0.0.1:1/nowhere',
      FERRY_DATA_DIR: await emptyDataDir(),
    })
    await third.printed('so HTTP is at')

    await using reachable = startFerry(['up'], {
      DATABASE_URL: 'postgres://127.0.0.1:1/nowhere',
      FERRY_DATA_DIR: await emptyDataDir(),
      FERRY_HTTP_HOST: '0.0.0.0',
      FERRY_HTTP_PORT: '0',
    })
    await reachable.printed('The console is off: FERRY_HTTP_HOST is not a loopback address')

    const second = await runFerryHere(['up'], env)
    expect(second.code).toBe(2)
    expect(second.stderr).toContain(`ferry up is already running here (pid ${up.child.pid})`)

    const synced = await runFerryHere(['sync', 'all', '--json'], env)
    expect(synced.code).toBe(0)
    expect(synced.stderr).toContain('using the sandbox of `ferry up`')
    expect(jsonLines(synced)).toMatchObject([
      { account: 'sandbox', seen: 40 },
      { account: 'sandbox', seen: 25 },
    ])

    const password = readFileSync(join(dataDir, 'postgres', 'owner-password'), 'utf8').trim()
    expect(up.output.stdout).toContain(
      `PGPASSWORD=$(cat '${join(dataDir, 'postgres', 'owner-password')}') psql -h 127.0.0.1 -p`,
    )
    expect(up.output.stdout + up.output.stderr).not.toContain(password)

    up.child.kill('SIGINT')
    expect(await up.ended).toMatchObject({ code: 0, signal: null })
    expect(existsSync(join(dataDir, 'sandbox.json'))).toBe(false)
    expect(await findPostmaster(join(dataDir, 'postgres'))).toBeUndefined()
    expect((await runFerryHere(['sync', 'all'], env)).code).toBe(2)
  })

  test('ends with an error if its Postgres is killed, and the next one goes on', async () => {
    const dataDir = await emptyDataDir()
    const env = { FERRY_DATA_DIR: dataDir }
    await using up = startFerry(['up'], env)
    await up.printed('First sync since the start, mcp-servers')
    const server = await findPostmaster(join(dataDir, 'postgres'))
    process.kill(server!.pid, 'SIGKILL')
    expect(await up.ended).toMatchObject({ code: 1, signal: null })
    expect(up.output.stderr).toContain("ferry: Ferry's Postgres has stopped: the server in ")
    expect(up.output.stderr).toContain('Start this command again (`ferry up`)')
    expect(existsSync(join(dataDir, 'sandbox.json'))).toBe(false)
    await using next = startFerry(['up'], env)
    await next.printed('Ferry is up')
    next.child.kill('SIGINT')
    expect(await next.ended).toMatchObject({ code: 0 })
  })

  test('prints one JSON object for programs, and what it says of the sandbox beside it', async () => {
    await using up = startFerry(['up', '--json'], { FERRY_DATA_DIR: await emptyDataDir() })
    await up.printed('"schedules"')
    expect(jsonLines(up.output)).toMatchObject([{ pid: up.child.pid, accounts: ['sandbox'] }])
    expect(up.output.stderr).toContain(
      'No platform account is configured: this is the built-in SANDBOX platform with made-up data (account "sandbox").\n' +
        'Some of its data changes every minute, so that there is history to see.\n' +
        'Set FERRY_BASE_URL and FERRY_APP_KEY to use your own.\n',
    )
    up.child.kill('SIGINT')
    expect(await up.ended).toMatchObject({ code: 0 })
    expect(jsonLines(up.output)).toHaveLength(1)
  })

  test('a sandbox whose process is gone is not used', async () => {
    const dataDir = await emptyDataDir()
    const up = startFerry(['up'], { FERRY_DATA_DIR: dataDir })
    await up.printed('SANDBOX')
    await waitFor(() => existsSync(join(dataDir, 'sandbox.json')), { what: 'the note of the sandbox' })
    up.child.kill('SIGKILL')
    await up.ended
    const { code, stderr } = await runFerryHere(['sync', 'all'], { FERRY_DATA_DIR: dataDir })
    expect(code).toBe(2)
    expect(stderr).toContain('FERRY_BASE_URL')
    // Finds the Postgres that the killed process may have left, and ends it.
    expect((await runFerryHere(['migrate'], { FERRY_DATA_DIR: dataDir })).code).toBe(0)
    expect(await findPostmaster(join(dataDir, 'postgres'))).toBeUndefined()
  })
})

test('ferry up says once of each inventory how its first sync ended, and why', async () => {
  await using cli = await openCli({ rules: 2, servers: 1 })
  cli.sandbox.state.inject(
    { kind: 'error', code: 'AccessDenied', message: 'No.' },
    { operation: 'list-alert-rules' },
  )
  await using up = cli.ferryStart('up', { FERRY_HTTP_PORT: '0', FERRY_POLL_EVERY: '1s' })
  await up.printed('First sync since the start, mcp-servers')
  const failed = () =>
    cli.query(`select from ferry.sync_runs where resource = 'alert-rules' and status = 'failed'`)
  await waitFor(async () => (await failed()).length > 1, { what: 'a second failure' })
  up.child.kill('SIGINT')
  const { stdout } = await up.ended
  const first = stdout.split('\n').filter(line => line.startsWith('First sync'))
  expect(first.toSorted()).toEqual([
    expect.stringMatching(
      /^First sync since the start, alert-rules of account default: failed, 0 listed, 0 added, 0 changed, 0 removed\. The platform answered AccessDenied \(HTTP \d+\): No\. .* \(request_id \w+\)$/,
    ),
    'First sync since the start, mcp-servers of account default: succeeded, 1 listed, 1 added, 0 changed, 0 removed',
  ])
})

describe('ferry worker', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'syncs on schedule until %s, then exits 0',
    async signal => {
      await using cli = await openCli({ rules: 3 })
      await using worker = cli.ferryStart('worker', { FERRY_POLL_EVERY: '1s' })
      const polled = () =>
        cli.query(`select from ferry.sync_runs where trigger = 'schedule' and status = 'succeeded'`)
      await waitFor(async () => (await polled()).length >= 2, { what: 'two polls' })
      worker.child.kill(signal)
      expect(await worker.ended).toMatchObject({ code: 0, signal: null })
      expect(await cli.query('select from ferry.sync_runs where finished_at is null')).toEqual([])
      expect(await leasesOf(cli.ferry.pool)).toEqual([])
    },
  )

  test('a second signal ends it at once', async () => {
    await using cli = await openCli()
    const called = Promise.withResolvers<void>()
    cli.sandbox.state.onCall(() => {
      called.resolve()
      return { kind: 'hang' }
    })
    await using worker = cli.ferryStart('worker', { FERRY_POLL_EVERY: '1s' })
    await called.promise
    worker.child.kill('SIGTERM')
    await worker.printed('finishing what is under way')
    const askedAtMs = performance.now()
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 130 })
    expect(performance.now() - askedAtMs).toBeLessThan(15_000)
  })

  test('prints one JSON object once it is ready', async () => {
    await using cli = await openCli()
    await using worker = cli.ferryStart('worker --json')
    await worker.printed('"schedules"')
    expect(jsonLines(worker.output)).toMatchObject([
      { pid: worker.child.pid, accounts: ['default'], queue: 'postgres' },
    ])
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })
})

describe('ferry schedules', () => {
  test('list, pause and resume tell the state that lives in Postgres', async () => {
    await using cli = await openCli()
    const poll = async () =>
      jsonLines(await cli.ferryRun('schedules list --json')).find(one => one.name === 'poll-alert-rules')
    expect(await poll()).toMatchObject({
      account: 'default',
      everyMs: 60_000,
      paused: false,
      nextAt: expect.stringMatching(/Z$/),
    })

    const paused = await cli.ferryRun('schedules pause poll-alert-rules --json')
    expect(paused.code).toBe(0)
    expect(jsonLines(paused)).toEqual([{ schedule: 'poll-alert-rules', account: 'default' }])
    expect(await poll()).toMatchObject({ paused: true, nextAt: null })
    expect((await cli.ferryRun('schedules list')).stdout).toMatch(
      /^poll-alert-rules +default +every 1 min .*paused/m,
    )

    expect((await cli.ferryRun('schedules resume poll-alert-rules')).stdout).toBe(
      'poll-alert-rules (default): resumed\n',
    )
    expect(await poll()).toMatchObject({ paused: false })
    expect((await cli.ferryRun('schedules resume poll-alert-rules')).stdout).toBe(
      'poll-alert-rules (default): it was not paused; it runs on schedule\n',
    )
  })

  test('run has a worker do it', async () => {
    await using cli = await openCli({ rules: 2, servers: 1 })
    await using worker = cli.ferryStart('worker', { FERRY_POLL_EVERY: '6h' })
    await worker.printed('Accounts:')
    expect(await cli.ferryRun('schedules run snapshot-inventory', { FERRY_POLL_EVERY: '6h' })).toMatchObject({
      code: 0,
      stdout:
        'snapshot-inventory (default): a running worker does it now; if none is running, the next one that starts\n',
    })
    const taken = () =>
      cli.query(`select from ferry.sync_runs where trigger = 'manual' and status = 'succeeded'`)
    await waitFor(async () => (await taken()).length === 2, { what: 'the snapshot' })
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })

  test('names the nearest schedule, and an account it does not know, without a stack trace', async () => {
    await using cli = await openCli()
    const { code, stderr } = await cli.ferryRun('schedules pause poll-alert-rule')
    expect(code).toBe(2)
    expect(stderr).toContain('poll-alert-rules')
    expect(stderr).not.toContain('at ')
    expect((await cli.ferryRun('schedules run prune --account nobody')).code).toBe(2)
  })
})
