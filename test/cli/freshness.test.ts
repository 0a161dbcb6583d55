import { expect, test } from 'vitest'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { ageRuns } from '#test/support/runs.ts'
import { accountsFile, openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

const SERVERS = {
  ...FRESHNESS_TARGET,
  resource: 'mcp-servers',
  targetMs: 90_000_000,
  folders: null,
} as const

test('`ferry freshness` exits 3 while an inventory is late or was never read, and 0 once all are fresh', async () => {
  await using cli = await openCli({ rules: 2, servers: 1 })
  const before = await cli.ferryRun('freshness --json')
  expect(before.code).toBe(3)
  expect(jsonLines(before)).toMatchObject([
    { account: 'default', inventory: 'alert-rules', state: 'never', whyLate: 'no run' },
    { account: 'default', inventory: 'mcp-servers', state: 'never', whyLate: 'no run' },
  ])

  await saveFreshnessTargets(cli.ferry.pool, [FRESHNESS_TARGET, SERVERS])
  await cli.sync()
  expect((await cli.ferryRun('freshness')).code).toBe(3)
  await cli.sync({ resource: 'mcp-servers' })
  const fresh = await cli.ferryRun('freshness --json')
  expect(fresh.code).toBe(0)
  const [rules] = jsonLines(fresh)
  expect(Object.keys(rules ?? {})).toEqual([
    'account',
    'inventory',
    'lastCompleteAt',
    'lastCompleteRun',
    'ageMs',
    'targetMs',
    'schedule',
    'state',
    'whyLate',
    'lastFailedRun',
    'errorCode',
    'requestId',
    'isAbandoned',
    'hasWorker',
    'keySetting',
    'message',
  ])
  expect(rules).toMatchObject({ lastCompleteRun: '1', targetMs: 180_000, state: 'fresh', message: null })
  expect((await cli.ferryRun('freshness')).stdout).toMatch(/^default +alert-rules .*3 min +fresh$/m)

  await ageRuns(cli.ferry.pool, '1 hour', 1n)
  const late = await cli.ferryRun('freshness')
  expect(late.stdout).toMatch(/^account +inventory +last complete +age +target +state +why$/m)
  expect(late.code).toBe(3)
  expect(late.stdout).toMatch(/^default +alert-rules .*1 h .*3 min +late +no worker has this account: /m)
  expect((await cli.ferryRun('freshness --account nope')).code).toBe(2)
  await ageRuns(cli.ferry.pool, '-3 hours', 1n)
  const setBack = await cli.ferryRun('freshness')
  expect(setBack.stdout).toMatch(/^default +alert-rules .*1 h 59 min in the future .*clock was set back/m)
})

test('`ferry report` says beside its rows which of their inventories are late, and changes nothing else', async () => {
  await using cli = await openCli({ rules: 2, servers: 1 })
  await saveFreshnessTargets(cli.ferry.pool, [FRESHNESS_TARGET, SERVERS])
  await cli.sync()
  const fresh = await cli.ferryRun('report rules_by_folder --json')
  expect(fresh).toMatchObject({ code: 0, stderr: '' })
  await ageRuns(cli.ferry.pool, '1 hour', 1n)
  const late =
    /^ferry: these are older than their freshness target: alert-rules of account default \(last read 2\d{3}-.*\)\. `ferry freshness` shows why\.\n$/
  const aged = await cli.ferryRun('report rules_by_folder --json')
  expect(aged).toEqual({ ...fresh, stderr: expect.stringMatching(late) })
  expect((await cli.ferryRun('report mcp_by_team')).stderr).toContain(
    'mcp-servers of account default (never read completely)',
  )
  expect((await cli.ferryRun('report changes_between')).stderr).toMatch(/alert-rules of .*, mcp-servers of /)
  expect((await cli.ferryRun('report freshness')).stderr).toBe('')
})

test('without a worker nothing is targeted, and `ferry freshness` says so', async () => {
  await using cli = await openCli({ rules: 2, servers: 1 })
  expect((await cli.ferryRun('sync all')).code).toBe(0)
  const ended = await cli.ferryRun('freshness')
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('no freshness target is set') })
  expect(ended.stdout).toContain('no target')
})

test('`ferry freshness` shows an account that is no longer configured, and one that was never synced', async () => {
  await using cli = await openCli({ rules: 2 })
  await cli.sync()
  const settings = {
    FERRY_BASE_URL: '',
    FERRY_APP_KEY: '',
    FERRY_ACCOUNTS_FILE: accountsFile({ name: 'new', baseUrl: cli.sandbox.baseUrl, appKeyEnv: 'KEY' }),
    KEY: cli.sandbox.appKey,
  }
  const shown = jsonLines(await cli.ferryRun('freshness --json', settings))
  expect(shown.map(({ account, inventory, state }) => `${account} ${inventory} ${state}`)).toEqual([
    'default alert-rules no target',
    'new alert-rules never',
    'new mcp-servers never',
  ])
})

test('a worker targets when it starts, by its settings', async () => {
  await using cli = await openCli({ rules: 2 })
  await using worker = cli.ferryStart('worker --json', {
    FERRY_POLL_EVERY: '20s',
    FERRY_LIST_LIMIT: '50/1s,1000/60s',
    FERRY_FOLDERS: '7,12',
    FERRY_TIMEZONE: 'Asia/Kathmandu',
    FERRY_KEEP_RUNS: '7d',
  })
  await worker.printed('"pid"')
  const rows = await cli.query(
    `select account, resource, schedule, target::text, night::text, nightly_cron, weekdays, timezone, folders, runs_kept::text, key_setting
     from ferry.freshness_targets order by 2`,
  )
  const same = {
    account: 'default',
    night: '25:00:00',
    nightly_cron: '30 3 * * *',
    weekdays: [1, 2, 3, 4, 5, 6, 7],
    timezone: 'Asia/Kathmandu',
    runs_kept: '168:00:00',
    key_setting: 'FERRY_APP_KEY',
  }
  expect(rows).toEqual([
    {
      ...same,
      resource: 'alert-rules',
      schedule: 'poll-alert-rules',
      target: '00:01:00',
      folders: ['12', '7'],
    },
    { ...same, resource: 'mcp-servers', schedule: 'poll-mcp-servers', target: '00:45:00', folders: null },
  ])
  const limits = 'select operation, calls_per_minute as allowed from ferry.platform_limits order by operation'
  expect(await cli.query(limits)).toEqual([
    { operation: 'import-subscribers', allowed: 20 },
    { operation: 'list-alert-rules', allowed: 1_000 },
    { operation: 'list-mcp-servers', allowed: 1_000 },
  ])
  worker.child.kill('SIGTERM')
  expect((await worker.ended).code).toBe(0)
})
