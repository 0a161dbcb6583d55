import { describe, expect, test } from 'vitest'
import { holdLease, leasesOf } from '#test/support/leases.ts'
import { accountsFile, openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

const KEYS = [
  'run',
  'account',
  'resource',
  'status',
  'seen',
  'added',
  'changed',
  'removed',
  'unchanged',
].concat(['quarantined', 'requests', 'durationMs'])

describe('ferry sync all --json', () => {
  test('prints one object per inventory and nothing else, and exits 0', async () => {
    await using cli = await openCli({ rules: 7, servers: 3 })
    const ended = await cli.ferryRun('sync all --json')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const lines = jsonLines(ended)
    expect(lines).toEqual([
      {
        run: '1',
        account: 'default',
        resource: 'alert-rules',
        status: 'succeeded',
        seen: 7,
        added: 7,
        changed: 0,
        removed: 0,
        unchanged: 0,
        quarantined: 0,
        requests: 1,
        durationMs: expect.any(Number),
      },
      expect.objectContaining({ run: '2', resource: 'mcp-servers', status: 'succeeded', seen: 3, added: 3 }),
    ])
    for (const line of lines) expect(Object.keys(line)).toEqual(KEYS)
  })

  test('a failure is said once, at its end, and a 429 as it is waited for', async () => {
    await using cli = await openCli({ rules: 2, servers: 1 })
    cli.sandbox.state.inject({ kind: 'error', code: 'InternalError' }, { operation: 'list-alert-rules' })
    const failed = await cli.ferryRun('sync alert-rules')
    expect(failed.code).toBe(1)
    expect(failed.stderr).toMatch(
      /^ferry: account default, alert-rules, run 1: failed[^\n]*InternalError[^\n]*\n$/,
    )
    cli.sandbox.state.clearFaults()
    cli.sandbox.state.inject(
      { kind: 'error', code: 'RequestTooFrequently' },
      { operation: 'list-alert-rules', nth: 1 },
    )
    const waited = await cli.ferryRun('sync alert-rules')
    expect(waited.code).toBe(0)
    expect(waited.stderr).toContain('Waiting until the limit lets calls through again.')
  })

  test('syncs every account, or the one named', async () => {
    await using cli = await openCli({ rules: 2, servers: 1 })
    const account = { baseUrl: cli.sandbox.baseUrl, appKeyEnv: 'KEY', limitGroup: 'one' }
    const path = accountsFile({ name: 'eu', ...account }, { name: 'us', ...account })
    const env = { FERRY_BASE_URL: '', FERRY_APP_KEY: '', FERRY_ACCOUNTS_FILE: path, KEY: cli.sandbox.appKey }
    const all = await cli.ferryRun('sync alert-rules --json', env)
    expect(jsonLines(all).map(line => line.account)).toEqual(['eu', 'us'])
    const one = await cli.ferryRun('sync alert-rules --json --account us', env)
    expect(jsonLines(one).map(line => line.account)).toEqual(['us'])
    const none = await cli.ferryRun('sync alert-rules --account asia', env)
    expect(none).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not an account; known: eu, us'),
    })
  })
})

describe('for people', () => {
  test('it prints a table, without colours where no terminal is', async () => {
    await using cli = await openCli({ rules: 1200, servers: 1 })
    const { code, stdout } = await cli.ferryRun('sync alert-rules')
    expect(code).toBe(0)
    expect(stdout.split('\n')[0]).toMatch(/^run +account +inventory +status +seen +added/)
    expect(stdout).toMatch(/^ +1 +default +alert-rules +succeeded +1,200 +1,200/m)
    expect(stdout).not.toContain('\u001b')
  })

  test('text of the platform cannot reach the terminal as commands', async () => {
    await using cli = await openCli({ rules: 1 })
    await cli.sync()
    cli.sandbox.state.changeRule(cli.sandbox.state.rules.ids()[0]!, { name: 'evil \u001b]0;title\u0007' })
    const { stdout } = await cli.ferryRun('sync alert-rules --plan')
    expect(stdout).toContain('evil')
    expect(stdout).not.toMatch(/[^\P{Cc}\n]/u)
  })
})

describe('--folder', () => {
  test('lists only these folders, to the last uint64', async () => {
    await using cli = await openCli({ rules: 12, folders: 3 })
    cli.sandbox.state.addRule({ folder_id: 18446744073709551615n })
    const [folder] = cli.sandbox.state.folders
    const ended = await cli.ferryRun(`sync all --json --folder ${folder} --folder 18446744073709551615`)
    expect(ended.code).toBe(0)
    expect(jsonLines(ended)[0]).toMatchObject({ seen: 5, requests: 2 })
    const bodies = cli.sandbox.state.received.filter(call => call.operation === 'list-alert-rules')
    expect(bodies).toHaveLength(2)
  })

  test('makes no sense for MCP servers, and exits 2', async () => {
    await using cli = await openCli()
    expect((await cli.ferryRun('sync mcp-servers --folder 1')).code).toBe(2)
  })
})

test('--json of a failed run has three keys more, which say why; of any other none', async () => {
  await using cli = await openCli({ rules: 1 })
  const keys = ['run', 'account', 'resource', 'status', 'seen', 'added', 'changed', 'removed', 'unchanged']
  const usual = [...keys, 'quarantined', 'requests', 'durationMs']
  const [good] = jsonLines(await cli.ferryRun('sync alert-rules --json'))
  expect(Object.keys(good ?? {})).toEqual(usual)
  const [failed] = jsonLines(await cli.ferryRun('sync alert-rules --json', { FERRY_APP_KEY: 'wrong' }))
  expect(Object.keys(failed ?? {})).toEqual([...usual, 'errorCode', 'message', 'requestId'])
  expect(failed).toMatchObject({
    status: 'failed',
    errorCode: 'Unauthorized',
    message: expect.any(String),
    requestId: expect.any(String),
  })
})

describe('the exit code', () => {
  test('is 3 if rows were quarantined', async () => {
    await using cli = await openCli({ rules: 3 })
    cli.sandbox.breakContract()
    cli.sandbox.state.addRule({ name: 7 as never })
    const { code, stderr } = await cli.ferryRun('sync alert-rules')
    expect(code).toBe(3)
    expect(stderr).toContain('ferry runs show 1')
  })

  test('is 3 if the listing was not complete', async () => {
    await using cli = await openCli({ servers: 30 })
    cli.sandbox.state.freezeTotalAt = 40
    cli.sandbox.state.onCall(() => {
      cli.sandbox.state.addServer()
    })
    expect((await cli.ferryRun('sync mcp-servers --json', { FERRY_PAGE_LIMIT: '10' })).code).toBe(3)
  })

  test('is 5 if removals are held, until they are approved', async () => {
    await using cli = await openCli({ rules: 30 })
    await cli.sync()
    for (const id of cli.sandbox.state.rules.ids().slice(0, 15)) cli.sandbox.state.removeRule(id)
    const held = await cli.ferryRun('sync alert-rules')
    expect(held.code).toBe(5)
    expect(held.stderr.match(/ferry runs approve 2/g)).toHaveLength(1)

    const approved = await cli.ferryRun('runs approve 2 --json')
    expect(approved.code).toBe(0)
    expect(jsonLines(approved)).toMatchObject([{ run: '3', status: 'succeeded', removed: 15 }])
    expect(Object.keys(jsonLines(approved)[0]!)).toEqual(KEYS)
    expect(await cli.ferryRun('runs approve 2')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holds no removals'),
    })
  })

  test('is 0 for a mass removal that was accepted beforehand', async () => {
    await using cli = await openCli({ rules: 30 })
    await cli.sync()
    for (const id of cli.sandbox.state.rules.ids().slice(0, 15)) cli.sandbox.state.removeRule(id)
    expect((await cli.ferryRun('sync alert-rules --accept-removals')).code).toBe(0)
  })

  test.each([
    ['401', 'wrong key', { kind: 'error', code: 'Unauthorized' }],
    ['402', 'no balance', { kind: 'error', code: 'BalanceNotEnough' }],
    ['403', 'no permission', { kind: 'error', code: 'AccessDenied' }],
  ] as const)(
    'is 4 if the platform answers %s (%s), and the words name the account',
    async (_, __, fault) => {
      await using cli = await openCli()
      cli.sandbox.state.inject(fault)
      const { code, stderr } = await cli.ferryRun('sync alert-rules')
      expect(code).toBe(4)
      expect(stderr).toContain(
        `account default, alert-rules, run 1: failed. The platform answered ${fault.code} (HTTP`,
      )
      const [run] = await cli.query<{ request_id: string }>('select request_id from ferry.sync_runs')
      expect(stderr).toContain(`request_id ${run!.request_id}`)
    },
  )

  test('is 1 if the platform is down', async () => {
    await using cli = await openCli()
    const { code, stderr } = await cli.ferryRun('sync alert-rules', { FERRY_BASE_URL: 'http://127.0.0.1:9' })
    expect(code).toBe(1)
    expect(stderr).toContain('could not be reached')
  })

  test('is 1 if another worker syncs the same inventory', async () => {
    await using cli = await openCli()
    await holdLease(cli.ferry.pool, 'sync:default:alert-rules', 'somebody else')
    const { code, stderr } = await cli.ferryRun('sync alert-rules')
    expect(code).toBe(1)
    expect(stderr).toContain('somebody else')
  })

  test('of several is the gravest', async () => {
    await using cli = await openCli({ rules: 3, servers: 2 })
    cli.sandbox.breakContract()
    cli.sandbox.state.addRule({ name: 7 as never })
    cli.sandbox.state.inject({ kind: 'error', code: 'Unauthorized' }, { operation: 'list-mcp-servers' })
    const ended = await cli.ferryRun('sync all --json')
    expect(jsonLines(ended).map(line => line.status)).toEqual(['succeeded', 'failed'])
    expect(ended.code).toBe(4)
  })

  test('is 130 after Ctrl-C, with the run closed in the ledger', async () => {
    await using cli = await openCli()
    const called = Promise.withResolvers<void>()
    cli.sandbox.state.onCall(() => {
      called.resolve()
      return { kind: 'hang' }
    })
    await using ferry = cli.ferryStart('sync all')
    await called.promise
    ferry.child.kill('SIGINT')
    expect(await ferry.ended).toMatchObject({ code: 130, signal: null })
    expect(await cli.query('select status, error_code from ferry.sync_runs')).toEqual([
      { status: 'failed', error_code: 'Interrupted' },
    ])
    expect(await leasesOf(cli.ferry.pool)).toEqual([])
  })

  test('is 1 with a database newer than the code, in clear words', async () => {
    await using cli = await openCli()
    await cli.query(`insert into ferry.migrations (hash, created_at) values ('x', 9999999999999)`)
    const { code, stderr } = await cli.ferryRun('sync all')
    expect(code).toBe(1)
    expect(stderr).toContain('migrated by a newer Ferry')
  })
})
