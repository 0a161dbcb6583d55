import { expect, test } from 'vitest'
import { type Cli, openCli, syncAs } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

/** The last paragraph of `runs show` before its calls: what a person may do. */
async function nextOf(cli: Cli, run: number): Promise<string> {
  const { stdout } = await cli.ferryRun(`runs show ${run}`)
  return stdout.slice(0, stdout.indexOf('\nCalls')).trimEnd().split('\n').at(-1) ?? ''
}

test('of a failed run, `runs show` says the command that tries again, until a later one succeeds', async () => {
  await using cli = await openCli({ rules: 3 })
  await cli.ferryRun('sync alert-rules', { FERRY_APP_KEY: 'wrong' })
  expect(await nextOf(cli, 1)).toBe('`ferry sync alert-rules --account default` tries again now.')
  expect((await cli.ferryRun('sync mcp-servers')).code).toBe(0)
  expect(await nextOf(cli, 1)).toBe('`ferry sync alert-rules --account default` tries again now.')
  await cli.ferryRun('sync alert-rules', { FERRY_APP_KEY: 'wrong' })
  expect((await cli.ferryRun('sync alert-rules --account default')).code).toBe(0)
  await cli.ferryRun('sync alert-rules')
  const done = 'Run 4 has listed the inventory completely since: nothing is left to do.'
  expect([await nextOf(cli, 1), await nextOf(cli, 3)]).toEqual([done, done])
  expect(await nextOf(cli, 4)).not.toContain('ferry')
})

test('a failed run of some folders is tried again with these', async () => {
  await using cli = await openCli({ rules: 3 })
  await cli.ferryRun('sync alert-rules --folder 77 --folder 78')
  expect(await nextOf(cli, 1)).toBe(
    '`ferry sync alert-rules --account default --folder 77 --folder 78` tries again now.',
  )
})

test('a failed run of MCP servers, which have no folders, is tried again without any', async () => {
  await using cli = await openCli({ rules: 3 })
  await cli.ferryRun('sync mcp-servers', { FERRY_APP_KEY: 'wrong' })
  expect(await nextOf(cli, 1)).toBe('`ferry sync mcp-servers --account default` tries again now.')
})

test('a listing of other folders does not make up for a failed run', async () => {
  await using cli = await openCli({ rules: 3 })
  await cli.ferryRun('sync alert-rules', { FERRY_APP_KEY: 'wrong' })
  const [{ folder_id: folder } = {}] = cli.sandbox.state.rules.rows()
  expect((await cli.ferryRun(`sync alert-rules --folder ${folder}`)).code).toBe(0)
  expect(await nextOf(cli, 1)).toBe('`ferry sync alert-rules --account default` tries again now.')
  await cli.ferryRun(`sync alert-rules --folder ${folder}`, { FERRY_APP_KEY: 'wrong' })
  await cli.sync()
  expect(await nextOf(cli, 3)).toBe('Run 4 has listed the inventory completely since: nothing is left to do.')
})

test('of a partial run, `runs show` says the command that tries again', async () => {
  await using cli = await openCli({ rules: 3 })
  await cli.sync()
  await cli.query(`update ferry.sync_runs set status = 'partial', message = 'not complete' where id = 1`)
  expect(await nextOf(cli, 1)).toBe('`ferry sync alert-rules --account default` tries again now.')
})

test('of a held run, `runs show` says who decides, and that nobody has to once it is decided', async () => {
  await using cli = await openCli({ rules: 12 })
  await cli.sync()
  for (const id of cli.sandbox.state.rules.ids()) cli.sandbox.state.removeRule(id)
  await cli.sync()
  expect((await cli.ferryRun('runs show 2')).stdout).toMatch(
    /Removals held: 12\. `ferry runs approve 2` removes them, `ferry runs reject 2` keeps them\./,
  )
  expect((await cli.ferryRun('runs reject 2')).code).toBe(0)
  expect(await nextOf(cli, 2)).toMatch(
    /^Its hold has ended: .*What waits for a decision, `ferry doctor` says\.$/,
  )
})

test('what a run of an account that is in no settings here holds is not approved here, and doctor says so', async () => {
  await using cli = await openCli({ rules: 12 })
  await syncAs(cli, 'eu')
  for (const id of cli.sandbox.state.rules.ids()) cli.sandbox.state.removeRule(id)
  expect((await syncAs(cli, 'eu')).code).toBe(5)
  expect(await cli.ferryRun('runs approve 2')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(
      'run 2 belongs to account eu, which is not configured here; the accounts here are: default',
    ),
  })
  const found = jsonLines(await cli.ferryRun('doctor --json')).find(({ check }) => check === 'holds')
  expect(found?.whatToDo).toBe(
    '`ferry runs show 2` lists them, `ferry runs reject 2` keeps them. Account eu is not in the settings here: `ferry runs approve 2` removes them where it is.',
  )
  const { stdout } = await cli.ferryRun('runs show 2')
  expect(stdout).toContain(
    'Removals held: 12. `ferry runs reject 2` keeps them. Account eu is not in the settings here: `ferry runs approve 2` removes them where it is.',
  )
  expect((await cli.ferryRun('runs reject 2')).code).toBe(0)
  await syncAs(cli, 'eu', { wrongKey: true })
  expect(await nextOf(cli, 3)).toBe(
    'Account eu is not in the settings here: `ferry sync alert-rules --account eu` tries again now where it is.',
  )
})

const TOKEN = '00000000-0000-4000-8000-000000000007'

test('of a run that has not ended, `runs show` says whether somebody works on it', async () => {
  await using cli = await openCli({ rules: 3 })
  await cli.sync()
  await cli.query(
    `update ferry.sync_runs set status = 'running', finished_at = null, lease_token = '${TOKEN}' where id = 1`,
  )
  expect(await nextOf(cli, 1)).toMatch(
    /^Its worker is gone, or stands still\. .*`ferry worker` starts one\.$/,
  )
  await cli.query(
    `insert into ferry.leases (name, holder, token, acquired_at, expires_at)
     values ('sync:default:alert-rules', 'w', '${TOKEN}', now(), now() + interval '1 min')`,
  )
  expect(await nextOf(cli, 1)).not.toContain('ferry')
})

test('a listing that was complete before a failed run does not make up for it', async () => {
  await using cli = await openCli({ rules: 3 })
  await cli.sync()
  await cli.ferryRun('sync alert-rules', { FERRY_APP_KEY: 'wrong' })
  expect(await nextOf(cli, 2)).toBe('`ferry sync alert-rules --account default` tries again now.')
})
