import { expect, test } from 'vitest'
import { openCli, syncAs } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

const START = /^ferry: the history starts at 2\d{3}-\d\d-\d\d .*FERRY_KEEP_VERSIONS/m

test('who looks farther back than the history is told where it starts, and nobody else', async () => {
  await using cli = await openCli({ rules: 1 })
  await cli.sync()
  const [{ id } = { id: '' }] = jsonLines(await cli.ferryRun('rules list --json'))
  const all = [
    `changes --rule ${id}`,
    `rules show ${id}`,
    'report rules_never_fired',
    'report rules_noisy --since 30d',
    'report nights',
  ]
  for (const line of all) expect((await cli.ferryRun(line)).stderr).toBe('')
  await cli.query(`insert into ferry.history (starts_at) values (now() - interval '10 d')`)
  for (const line of all) expect((await cli.ferryRun(line)).stderr, line).toMatch(START)
  for (const line of ['changes', 'changes --since 9d', 'report rules_noisy', 'report nights --since 9d']) {
    expect((await cli.ferryRun(line)).stderr, line).toBe('')
  }
  for (const line of [
    `rules show ${id} --as-of 11d`,
    'rules list --as-of 11d',
    `report changes_between --since 11d`,
  ]) {
    expect(await cli.ferryRun(line), line).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The history starts at'),
    })
  }
})

test('who asks for a moment before the first reading of an account is told that nothing is known of it', async () => {
  await using cli = await openCli({ rules: 1, servers: 1 })
  await cli.sync()
  await syncAs(cli, 'other')
  const note = async (line: string) => (await cli.ferryRun(line)).stderr
  const at = '2\\d{3}-\\d\\d-\\d\\d [^,]*'
  const before = await cli.ferryRun('rules list --as-of 2020-01-01')
  expect(before).toMatchObject({ code: 0, stdout: 'None found.\n' })
  expect(before.stderr).toMatch(
    new RegExp(
      `^ferry: the alert-rules of 2020-01-01 .* are not known: the first reading was of account default at ${at}, of account other at ${at}\\.\\n$`,
    ),
  )
  expect(await note('rules list --as-of 2020-01-01 --account other --json')).not.toContain('default')
  await cli.query(`update ferry.sync_runs set applied_at = now() - interval '2 d' where account = 'default'`)
  expect(await note('rules list --as-of 24h --account default')).toBe('')
  expect(await note('rules list --as-of 24h')).toContain('the first reading was of account other')
  expect(await note('rules list')).toBe('')
  expect(await note('servers list --as-of 2020-01-01')).toBe('')
})

test('who looks farther back than calls or runs are kept is told so', async () => {
  await using cli = await openCli()
  const note = async (line: string, env = {}) => (await cli.ferryRun(line, env)).stderr
  expect(await note('report call_latency --since 91d')).toBe(
    'ferry: calls are kept for 90 days (FERRY_KEEP_CALLS), those of imports forever. Other calls that are older are not counted.\n',
  )
  expect(await note('report runs_health --since 3d')).toBe('')
  await cli.query(`insert into ferry.history values (true, '-infinity', '2100-01-01')`)
  const gone =
    /^ferry: runs before 2100-01-01 .* that changed nothing were removed \(FERRY_KEEP_RUNS\). What was read then is not known.\n$/
  for (const report of ['runs_health --since 3d', 'runs_health', 'freshness_daily', 'blind_spots']) {
    expect(await note(`report ${report}`), report).toMatch(gone)
  }
  await cli.query(`update ferry.history set runs_start_at = now() - interval '4 days'`)
  expect(await note('report runs_health --since 3d')).toBe('')
  expect(await note('report call_latency --since 89d')).toBe('')
  expect(await note('report call_latency --since 91d', { FERRY_KEEP_CALLS: 'forever' })).toBe('')
})
