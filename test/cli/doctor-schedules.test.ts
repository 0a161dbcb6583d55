import { expect, test } from 'vitest'
import { recordWorker } from '#src/db/workers.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { ageRuns } from '#test/support/runs.ts'
import { commandsIn, examine } from './examine.ts'
import { accountsFile, type Cli, openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

test('a schedule that is paused is named with the command that resumes it', async () => {
  await using cli = await openCli()
  await cli.ferryRun('schedules pause poll-alert-rules')
  await cli.ferryRun('schedules pause prune')
  const { code, lines } = await examine(cli, 'schedules')
  expect(lines.map(({ status, found }) => [status, found])).toEqual([
    ['warn', 'poll-alert-rules of account default is paused'],
    ['warn', 'prune is paused'],
  ])
  expect(code).toBe(0)
  for (const { whatToDo } of lines) {
    const [resume] = commandsIn(whatToDo)
    expect(await cli.ferryRun(resume?.replace('ferry ', '') ?? '')).toMatchObject({ code: 0 })
  }
  expect((await examine(cli, 'schedules')).lines).toMatchObject([{ status: 'ok' }])
})

test('a night without a snapshot is named, of accounts that workers have', async () => {
  await using cli = await openCli()
  await cli.sync()
  await ageRuns(cli.ferry.pool, '3 days')
  expect((await examine(cli, 'schedules')).lines).toMatchObject([{ status: 'ok' }])
  await saveFreshnessTargets(cli.ferry.pool, [FRESHNESS_TARGET])
  const { lines } = await examine(cli, 'schedules')
  expect(lines).toMatchObject([
    {
      status: 'warn',
      found: expect.stringMatching(/^account default has no snapshot since its night at 20/),
    },
  ])
  // It is night at another time where the settings say another zone: half past three there is ten in the evening in UTC.
  const elsewhere = await examine(cli, 'schedules', { FERRY_TIMEZONE: 'Asia/Kolkata' })
  expect(elsewhere.lines[0]?.found).toMatch(/ since its night at \S+ 22:00:00Z$/)
  const [take] = commandsIn(lines[0]?.whatToDo)
  expect(await cli.ferryRun(take?.replace('ferry ', '') ?? '')).toMatchObject({ code: 0 })
  expect((await examine(cli, 'schedules')).lines).toMatchObject([{ status: 'ok' }])
})

test('an account that no worker has is named beside those that are read', async () => {
  await using cli = await openCli()
  await cli.sync()
  const { stdout } = await cli.ferryRun('doctor --json', withAnother(cli, 'other'))
  const named = jsonLines({ stdout }).filter(({ check }) => check === 'inventories')
  expect(named.map(({ found }) => found).join()).toContain(
    'account other, alert-rules: it has never been read',
  )
})

test('a schedule of an account that is in no settings here is named too, and is resumed all the same', async () => {
  await using cli = await openCli()
  const both = withAnother(cli, 'eu')
  expect(await cli.ferryRun('schedules pause poll-alert-rules', both)).toMatchObject({ stderr: '', code: 0 })
  const { lines } = await examine(cli, 'schedules')
  expect(lines.map(({ found }) => found)).toEqual([
    'poll-alert-rules of account default is paused',
    'poll-alert-rules of account eu is paused',
  ])
  expect((await cli.ferryRun('schedules run poll-alert-rules --account eu')).code).toBe(2)
  expect((await cli.ferryRun('schedules resume poll-mcp-servers --account eu')).code).toBe(2)
  const [resume = ''] = commandsIn(lines[1]?.whatToDo)
  expect(await cli.ferryRun(resume.replace('ferry ', ''))).toMatchObject({ code: 0, stderr: '' })
  expect((await examine(cli, 'schedules')).lines).toHaveLength(1)
  expect((await cli.ferryRun(resume.replace('ferry ', ''))).code).toBe(2)
  expect((await cli.ferryRun('schedules resume poll-alert-rules')).stdout).not.toContain('eu')
})

test('what is done to a schedule of one account is done to no other', async () => {
  await using cli = await openCli()
  const both = withAnother(cli, 'eu')
  const act = async (verb: string) =>
    (await cli.ferryRun(`schedules ${verb} poll-alert-rules --account eu`, both)).stdout
  const paused = () => cli.query('select account, schedule from ferry.schedule_pauses')
  expect(await act('pause')).toBe('poll-alert-rules (eu): paused\n')
  expect(await paused()).toEqual([{ account: 'eu', schedule: 'poll-alert-rules' }])
  await cli.ferryRun('schedules pause poll-alert-rules --account default', both)
  expect(await act('resume')).toBe('poll-alert-rules (eu): resumed\n')
  expect(await paused()).toEqual([{ account: 'default', schedule: 'poll-alert-rules' }])
  expect(await act('run')).toBe(
    'poll-alert-rules (eu): a running worker does it now; if none is running, the next one that starts\n',
  )
  expect(await cli.query('select account, schedule from ferry.schedule_slots')).toEqual([
    { account: 'eu', schedule: 'poll-alert-rules' },
  ])
})

test('a schedule that failed last time is named until it succeeds', async () => {
  await using cli = await openCli()
  const fail = (slot: string, outcome: string) =>
    cli.query(
      `insert into ferry.schedule_slots (account, schedule, slot, attempts, done_at, outcome) values ('*', 'prune', $1, 1, now(), $2)`,
      [slot, outcome],
    )
  await fail('2026-01-01', 'failed')
  expect((await examine(cli, 'schedules')).lines).toMatchObject([
    {
      status: 'warn',
      found: 'prune failed the last time that it ran',
      whatToDo: expect.stringMatching(
        /^The log of the worker says why\. `ferry schedules run prune` tries again now\.$/,
      ),
    },
  ])
  await fail('2026-01-02', 'succeeded')
  expect((await examine(cli, 'schedules')).lines).toMatchObject([{ status: 'ok' }])
})

test('without a worker, what somebody asked for is work that is due', async () => {
  await using cli = await openCli()
  expect((await examine(cli, 'workers')).lines).toMatchObject([{ status: 'ok' }])
  await cli.ferryRun('schedules run prune')
  expect((await examine(cli, 'workers')).lines).toMatchObject([
    { status: 'fail', found: 'work is due, but no worker is alive' },
  ])
  // Nobody has had it for longer than a day: its account was taken away, say.
  await cli.query(
    `update ferry.schedule_slots set slot = slot - interval '2 days', retry_at = now() - interval '25 hours'`,
  )
  expect((await examine(cli, 'workers')).lines).toMatchObject([{ status: 'ok' }])
  await cli.ferryRun('schedules run prune')
  await recordWorker(cli.ferry.pool, 'w', null, ['default'])
  expect((await examine(cli, 'workers')).lines).toMatchObject([{ status: 'ok', found: '1 worker alive' }])
})

test('a receiver that no worker has in its settings is named while workers run', async () => {
  await using cli = await openCli(
    {},
    { FERRY_WEBHOOK_URL: 'http://127.0.0.1:9/hook', FERRY_WEBHOOK_FORMAT: 'slack' },
  )
  await recordWorker(cli.ferry.pool, 'w', null, ['default'])
  await cli.query(`insert into ferry.receivers (name, after_event) values ('another', 0)`)
  expect((await examine(cli, 'notifications')).lines).toMatchObject([
    { status: 'warn', found: 'no worker has webhook in its settings: nobody is told' },
  ])
  await cli.query(`insert into ferry.receivers (name, after_event) values ('webhook', 0)`)
  expect((await examine(cli, 'notifications')).lines).toMatchObject([{ status: 'ok' }])
})

/** Settings with two accounts, which are one on the platform. */
function withAnother(cli: Cli, name: string) {
  const account = { baseUrl: cli.sandbox.baseUrl, appKeyEnv: 'KEY', limitGroup: 'one' }
  return {
    FERRY_BASE_URL: '',
    FERRY_APP_KEY: '',
    KEY: cli.sandbox.appKey,
    FERRY_ACCOUNTS_FILE: accountsFile({ name: 'default', ...account }, { name, ...account }),
  }
}
