import { expect, test } from 'vitest'
import { recordWorker } from '#src/db/workers.ts'
import { commandsIn, examine } from './examine.ts'
import { accountsFile, openCli } from './open-cli.ts'

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

test('a schedule of an account that is in no settings here is named too, and is resumed all the same', async () => {
  await using cli = await openCli()
  const both = {
    FERRY_BASE_URL: '',
    FERRY_APP_KEY: '',
    KEY: cli.sandbox.appKey,
    FERRY_ACCOUNTS_FILE: accountsFile(
      { name: 'default', baseUrl: cli.sandbox.baseUrl, appKeyEnv: 'KEY', limitGroup: 'one' },
      { name: 'eu', baseUrl: cli.sandbox.baseUrl, appKeyEnv: 'KEY', limitGroup: 'one' },
    ),
  }
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
  await recordWorker(cli.ferry.pool, 'w', null, ['default'])
  expect((await examine(cli, 'workers')).lines).toMatchObject([{ status: 'ok', found: '1 worker alive' }])
})
