import { expect, test } from 'vitest'
import { type Cli, openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

const RULES = 2_001

/** More rules than two parts of a list hold, whose names are their numbers. */
async function openMany(rules = RULES): Promise<Cli> {
  const cli = await openCli()
  await cli.query(
    `insert into ferry.alert_rule_versions (account, id, valid_from, opened_by_run, name, fingerprint, account_id, folder_id,
       labels, ds_type, enabled, debug_log_enabled, cron_pattern, delay_seconds, creator_id, creator_name, updater_id,
       updater_name, created_at, updated_at)
     select 'default', n, now(), 1, to_char(n, 'FM0000'), md5(n::text)::uuid, 1, 1, '{}', 'x', true, false, '* * * * *', 0, 1,
       'Grace', 1, 'Ada', 0, 0 from generate_series(1, $1::int) n`,
    [rules],
  )
  return cli
}

const all = Array.from({ length: RULES }, (_, n) => `${n + 1}`)

test('a list that is written in parts has each row once, in its order, for programs and for people', async () => {
  await using cli = await openMany()
  const listed = jsonLines(await cli.ferryRun('rules list --json'))
  expect(listed.map(({ id }) => id)).toEqual(all)
  const namesIn = (text: string) =>
    [...text.matchAll(/\b(\d{4})\b(?= )/g)].map(([, name]) => `${Number(name)}`)
  for (const [args, count, rest] of [
    ['--all', RULES, ''],
    ['--limit 1000', 1_000, 'and 1,001 more (--all shows them)'],
    ['--limit 1500', 1_500, 'and 501 more (--all shows them)'],
  ] as const) {
    const { stdout } = await cli.ferryRun(`rules list ${args}`)
    const names = stdout.split('\n').flatMap(line => namesIn(line).slice(0, 1))
    expect(names).toEqual(all.slice(0, count))
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(rest === '' ? /2001/ : rest)
  }
})

test('how many rows are left is counted up to 10,000, whatever the limit', async () => {
  await using cli = await openMany(10_100)
  for (const [limit, more] of [
    [50, 'and more than 10,000 more'],
    [99, 'and more than 10,000 more'],
    [100, 'and 10,000 more'],
    [10_099, 'and 1 more'],
  ] as const) {
    expect((await cli.ferryRun(`rules list --limit ${limit}`)).stdout).toContain(
      `\n${more} (--all shows them)`,
    )
  }
})

test('names and descriptions of a platform that are very long are cut for people, and whole for programs', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  const long = 'x'.repeat(60_000)
  cli.sandbox.state.addRule({ id: 1n, name: long, labels: { team: 'core', note: long } })
  cli.sandbox.state.addServer({ server_id: 's1', server_name: long, description: long, status: 'enabled' })
  await cli.sync()
  cli.sandbox.state.changeRule(1n, { name: `${long}!` })
  cli.sandbox.state.changeServer('s1', { description: `${long}!` })
  await cli.sync()
  for (const command of [
    'rules list',
    'servers list',
    'changes',
    'sync all --plan',
    'report rules_unowned',
    'report changes_between',
  ]) {
    const { stdout, code } = await cli.ferryRun(command)
    expect([command, code]).toEqual([command, 0])
    expect(stdout.length, command).toBeLessThan(20_000)
  }
  const [rule] = jsonLines(await cli.ferryRun('rules list --json'))
  expect(rule?.name).toBe(`${long}!`)
})

test('a report that is written in parts has each row once, in its order', async () => {
  await using cli = await openMany()
  const rows = jsonLines(await cli.ferryRun('report rules_unowned --json')).map(({ id }) => id)
  expect(rows.toSorted((a, b) => Number(a) - Number(b))).toEqual(all)
  const csv = (await cli.ferryRun('report rules_unowned --format csv')).stdout.split('\n')
  const at = csv[0]!.split(',').indexOf('id')
  expect(csv.slice(1, -1).map(line => line.split(',')[at])).toEqual(rows)
})
