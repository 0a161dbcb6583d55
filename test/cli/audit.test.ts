import { describe, expect, test } from 'vitest'
import { holdLease } from '#test/support/leases.ts'
import { stageRows } from '#test/support/staged.ts'
import { type Cli, openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

/** What `ferry audit` lists, the newest first, without numbers and times. */
async function audit(cli: Cli, args = ''): Promise<unknown[][]> {
  const ended = await cli.ferryRun(`audit --json${args}`)
  expect(ended.code).toBe(0)
  return jsonLines(ended).map(({ actor, action, subjectKind, subject, account, because }) => [
    ...[actor, action, `${subjectKind} ${subject}`, account, because],
  ])
}

/** A run that holds the removal of 12 of 15 rules. */
async function openHeld() {
  const cli = await openCli({ rules: 15 })
  await cli.sync()
  for (const id of cli.sandbox.state.rules.ids().slice(0, 12)) cli.sandbox.state.removeRule(id)
  expect((await cli.sync()).status).toBe('held')
  return cli
}

describe('ferry audit', () => {
  test('lists what people did to schedules, once each, with who and why', async () => {
    await using cli = await openCli()
    const because = '--as ada --because maintenance'
    for (const args of [
      `schedules pause poll-alert-rules ${because}`,
      `schedules pause poll-alert-rules ${because}`,
      `schedules resume poll-alert-rules ${because}`,
      `schedules resume poll-alert-rules ${because}`,
      'schedules run prune --as bob',
    ]) {
      expect((await cli.ferryRun(args)).code).toBe(0)
    }
    expect(await audit(cli)).toEqual([
      ['bob', 'run', 'schedule prune', '*', null],
      ['ada', 'resume', 'schedule poll-alert-rules', 'default', 'maintenance'],
      ['ada', 'pause', 'schedule poll-alert-rules', 'default', 'maintenance'],
    ])
  })

  test('has the user and host of who gives no name', async () => {
    await using cli = await openCli()
    await cli.ferryRun('schedules pause prune')
    const [[actor, ...rest] = []] = await audit(cli)
    expect(actor).toMatch(/^\S+@\S+$/)
    expect(rest).toEqual(['pause', 'schedule prune', '*', null])
  })

  test('lists every run that a person asked for, also one that was skipped, and none of a schedule', async () => {
    await using cli = await openCli({ rules: 2, servers: 2 })
    await cli.ferryRun('sync alert-rules --as ada --because today')
    await cli.ferryRun('snapshots take --as bob')
    await cli.sync({ trigger: 'schedule' })
    await holdLease(cli.ferry.pool, 'sync:default:alert-rules')
    await cli.ferryRun('sync alert-rules --as eve')
    const [skipped, ...others] = await audit(cli)
    expect(skipped).toEqual(['eve', 'sync', 'run 5', 'default', null])
    expect(others.sort()).toEqual([
      ['ada', 'sync', 'run 1', 'default', 'today'],
      ['bob', 'sync', 'run 2', 'default', null],
      ['bob', 'sync', 'run 3', 'default', null],
    ])
    expect(await cli.query('select status from ferry.sync_runs where id = 5')).toEqual([
      { status: 'skipped' },
    ])
  })

  test('lists an approval once it has removed something, not when the platform refused to list', async () => {
    await using cli = await openHeld()
    const approve = 'runs approve 2 --as ada --because gone'
    const wrongKey = await cli.ferryRun(approve, { FERRY_APP_KEY: 'wrong' })
    expect(wrongKey.code).toBe(4)
    expect(await audit(cli)).toEqual([['ada', 'sync', 'run 3', 'default', 'gone']])
    expect((await cli.ferryRun(approve)).code).toBe(0)
    expect(await audit(cli, ' --action approve')).toEqual([['ada', 'approve', 'run 2', 'default', 'gone']])
    expect((await cli.ferryRun(approve)).code).not.toBe(0)
    expect(await audit(cli)).toHaveLength(3)
  })

  test('lists a rejection once', async () => {
    await using cli = await openHeld()
    expect((await cli.ferryRun('runs reject 2 --as ada')).code).toBe(0)
    expect((await cli.ferryRun('runs reject 2 --as bob')).code).not.toBe(0)
    expect(await audit(cli)).toEqual([['ada', 'reject', 'run 2', 'default', null]])
    expect(await cli.query('select rejected_by from ferry.removal_holds')).toEqual([{ rejected_by: 'ada' }])
  })

  test('lists decisions about imports; purging twice is purging once', async () => {
    await using cli = await openCli()
    const id = await stageRows(cli.ferry.pool, { status: 'undecided' })
    for (const args of [
      `imports resolve ${id} --as sent --by ada --because seen`,
      `imports purge ${id} --yes --as bob`,
      `imports purge ${id} --yes --as bob`,
    ]) {
      expect((await cli.ferryRun(args)).code).toBe(0)
    }
    expect(await audit(cli, ' --limit 2')).toEqual([
      ['bob', 'purge', `import ${id}`, 'default', null],
      ['ada', 'resolve', `import ${id}`, 'default', 'seen'],
    ])
  })

  test('narrows by account, person, action and time', async () => {
    await using cli = await openCli()
    await cli.ferryRun('schedules pause prune --as ada')
    await cli.ferryRun('schedules pause poll-alert-rules --as bob')
    await cli.query(`update ferry.audit set at = now() - interval '3 days' where actor = 'ada'`)
    const who = async (args: string) => (await audit(cli, args)).map(([actor]) => actor)
    expect(await who(' --since 24h')).toEqual(['bob'])
    expect(await who(' --since 7d')).toEqual(['bob', 'ada'])
    expect(await who(' --account default')).toEqual(['bob'])
    expect(await who(' --as ada')).toEqual(['ada'])
    expect(await who(' --action resume')).toEqual([])
    expect((await cli.ferryRun('audit --action resume')).stdout).toBe('Nothing matches.\n')
    expect((await cli.ferryRun('audit --account nope')).code).toBe(2)
  })

  test('prints control characters of a reason as harmless ones', async () => {
    await using cli = await openCli()
    expect((await cli.ferryRun('audit')).stdout).toBe('No manual actions yet.\n')
    await cli.ferryRun('schedules pause prune --as \u001b[31mada --because a\u0007b\nc')
    const { stdout } = await cli.ferryRun('audit')
    expect(stdout).toMatch(/\ufffd\[31mada +pause +schedule prune +\* +a\ufffdb\ufffdc$/m)
    const [act] = await audit(cli)
    expect(act?.at(-1)).toBe('a\u0007b\nc')
  })

  test.each([
    ['--as', ' '],
    ['--as', 'x'.repeat(201)],
    ['--because', ''],
    ['--because', 'x'.repeat(1_001)],
  ])('%s that is empty or too long is wrong usage, and nothing is done', async (option, text) => {
    await using cli = await openCli()
    const { runFerryHere } = await import('./run-ferry.ts')
    const ended = await runFerryHere(['schedules', 'pause', 'prune', option, text], cli.env)
    expect(ended.code).toBe(2)
    expect(await cli.query('select from ferry.schedule_pauses')).toEqual([])
    expect(await audit(cli)).toEqual([])
  })
})

test('what cannot be recorded is not done', async () => {
  await using cli = await openCli({ rules: 2 })
  const id = await stageRows(cli.ferry.pool)
  await cli.query('delete from ferry.audit')
  await cli.query('alter table ferry.audit add constraint nobody check (false)')
  for (const args of [
    'schedules pause prune',
    'schedules run prune',
    'sync alert-rules',
    `imports pause ${id}`,
    `imports cancel ${id} --yes`,
  ]) {
    expect((await cli.ferryRun(args)).code, args).toBe(1)
  }
  expect(await cli.query('select from ferry.schedule_pauses')).toEqual([])
  expect(await cli.query('select from ferry.schedule_slots')).toEqual([])
  expect(await cli.query('select from ferry.sync_runs')).toEqual([])
  expect(await cli.query('select status from ferry.imports')).toEqual([{ status: 'queued' }])
})
