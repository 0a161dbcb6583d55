import { expect, test } from 'vitest'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { ageRuns } from '#test/support/runs.ts'
import { openCli } from './open-cli.ts'

const UNREAD = 'ferry: nothing has been read yet: `ferry sync all` reads both inventories now.'

test('where nothing was ever read, no change and no firing is said to be known', async () => {
  await using cli = await openCli({ rules: 1, servers: 0 })
  for (const line of ['changes', 'changes --by Ada', 'at 1h']) {
    expect(await cli.ferryRun(line), line).toMatchObject({ code: 0, stderr: expect.stringContaining(UNREAD) })
  }
  await cli.sync()
  for (const line of ['changes', 'changes --by Ada', 'at 0s']) {
    expect((await cli.ferryRun(line)).stderr, line).not.toContain('nothing has been read')
  }
})

test('`ferry changes` says which inventories are late: what changed since they were read is not known', async () => {
  await using cli = await openCli({ rules: 1, servers: 0 })
  await saveFreshnessTargets(cli.ferry.pool, [FRESHNESS_TARGET])
  await cli.sync()
  expect((await cli.ferryRun('changes')).stderr).toBe('')
  await ageRuns(cli.ferry.pool, '2 days', 1n)
  const late = await cli.ferryRun('changes')
  expect(late.stdout).toContain('Nothing changed in the last day.')
  expect(late.stderr).toMatch(
    /^ferry: these are older than their freshness target: alert-rules of account default/,
  )
})

test('of a moment in which the rules were not read, none is said not to have fired', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  await cli.sync()
  const found = async (line: string) => (await cli.ferryRun(line)).stdout
  expect(await found('at 0s')).toContain('No rule.')
  expect(await found('at 3h')).toContain('No rule is known to have fired: not everything was read then.')
  await cli.sync({ resource: 'mcp-servers' })
  await cli.query(`delete from ferry.sync_runs where resource = 'mcp-servers'`)
  expect(await found('at 0s')).toContain('No rule.')
})

test('a moment near the start of the history is told how much of it is kept', async () => {
  await using cli = await openCli({ rules: 1, servers: 0 })
  await cli.sync()
  await cli.query(`insert into ferry.history (starts_at) values (now() - interval '50 min 30 s')`)
  const refused = await cli.ferryRun('at 20m')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('the history starts at 2') })
  expect(refused.stderr).toContain('`--around 30m` shows what is kept.')
  expect(await cli.ferryRun('at 20m --around 30m')).toMatchObject({ code: 0 })
  expect((await cli.ferryRun('at 50m')).stderr).toContain('Ask for a later moment.')
  expect((await cli.ferryRun('at 2h')).stderr).toContain('Ask for a later moment.')
})
