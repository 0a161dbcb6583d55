import { expect, test } from 'vitest'
import { ageCalls } from '#test/support/call-log.ts'
import { ageRuns } from '#test/support/runs.ts'
import { insertRuleVersion } from '#test/support/versions.ts'
import { openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

const TABLES = [
  ['ferry.platform_calls', '5d', 2],
  ['ferry.sync_runs', '5d', 1],
  ['ferry.quarantined_rows', 'forever', 0],
  ['ferry.alert_rule_versions', '30d', 1],
  ['ferry.mcp_server_versions', '30d', 0],
  ['ferry.alert_rule_firings', '30d', 0],
  ['ferry.snapshots', '30d', 0],
  ['ferry.import_recipients', '30d', 0],
  ['ferry.events', '90d', 0],
  ['ferry.imports', '1d', 0],
  ['ferry.schedule_slots', '30d', 0],
  ['ferry.leases', '1d', 0],
  ['ferry.workers', '1d', 0],
] as const

test('ferry prune counts old rows, or removes them, by the settings', async () => {
  const settings = { FERRY_KEEP_CALLS: '5d', FERRY_KEEP_RUNS: '5d', FERRY_KEEP_VERSIONS: '30d' }
  await using cli = await openCli({ rules: 2 }, settings)
  for (let run = 0; run < 3; run++) await cli.sync()
  await ageRuns(cli.ferry.pool, '6 days', 2n)
  await cli.query('update ferry.platform_calls set batch_id = 1 where run_id = 3')
  await ageCalls(cli.ferry.pool, '6 days')
  await insertRuleVersion(cli.ferry.pool, { name: 'old', from: '2020-01-01', to: '2020-02-01' })
  const linesOf = async (args: string) => {
    const ended = await cli.ferryRun(args)
    expect(ended.code).toBe(0)
    return jsonLines(ended).map(({ table, kept, rows, removed }) => [table, kept, rows, removed])
  }
  expect(await linesOf('prune --dry-run --json')).toEqual(TABLES.map(line => [...line, false]))
  expect(await linesOf('prune --dry-run --json')).toEqual(TABLES.map(line => [...line, false]))
  expect(await cli.query('select from ferry.audit')).toHaveLength(0)
  expect(await linesOf('prune --json --as ada')).toEqual(TABLES.map(line => [...line, true]))
  expect(await cli.query('select actor, action, subject_id, account from ferry.audit')).toEqual([
    { actor: 'ada', action: 'run', subject_id: 'prune', account: '*' },
  ])
  expect((await cli.ferryRun('prune')).stdout).toMatch(/^ferry.platform_calls +5d +0$/m)

  const asOf = await cli.ferryRun('rules list --as-of 2020-01-15')
  expect(asOf.code).toBe(2)
  expect(asOf.stderr).toMatch(/^ferry: The history starts at .*FERRY_KEEP_VERSIONS/s)
})

test.each([
  ['FERRY_KEEP_CALLS', '90', 'is not a time to keep rows; write 1d to 36500d, or forever'],
  ['FERRY_KEEP_VERSIONS', '0d', 'is not a time to keep rows'],
  ['FERRY_KEEP_RUNS', '40000d', 'is not a time to keep rows'],
  ['FERRY_KEEP_CALLS', '1d', 'a limit counts calls over a longer window'],
])('%s=%s is a mistake', async (name, value, message) => {
  await using cli = await openCli({}, { FERRY_IMPORT_LIMIT: '2/1s,20/30h' })
  const ended = await cli.ferryRun('prune --dry-run', { [name]: value })
  expect(ended.code).toBe(2)
  expect(ended.stderr).toContain(name)
  expect(ended.stderr).toContain(message)
})
