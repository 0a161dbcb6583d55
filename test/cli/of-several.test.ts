import { expect, test } from 'vitest'
import { addRun } from '#test/support/runs.ts'
import { insertFiring, insertRuleVersion } from '#test/support/versions.ts'
import { openCli, syncAs } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

/* What is said of several accounts, and of what is gone. */

test('changes and what happened at a moment name the account once there are several', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  const { pool } = cli.ferry
  const from = new Date(Date.now() - 60_000)
  const add = (account: string) => insertRuleVersion(pool, { account, id: '1', name: 'one', from })
  const linesOf = async (args: string) => (await cli.ferryRun(args)).stdout
  await add('default')
  await cli.sync()
  expect(await linesOf('changes')).toMatch(/^change +name +what +by +when$/m)
  expect(await linesOf('at 1m')).toMatch(/how +by$/m)
  await add('other')
  await syncAs(cli, 'other')
  expect(await linesOf('changes')).toMatch(/^change +name +what +by +when +account$/m)
  expect(await linesOf('changes')).toMatch(/^added +one .* other$/m)
  expect(await linesOf('at 1m')).toMatch(/how +by +account$/m)
  expect(await linesOf('at 1m')).toMatch(/ default$/m)
})

test('rules of several accounts that fired at a moment are named with their account, though nothing else happened', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  const { pool } = cli.ferry
  for (const account of ['default', 'other']) {
    await insertRuleVersion(pool, { account, id: '1', name: `of ${account}`, from: '2026-01-01' })
    await insertFiring(pool, { account, id: '1', from: new Date(Date.now() - 7_200_000) })
  }
  const { stdout } = await cli.ferryRun('at 30m --around 1m')
  expect(stdout.replaceAll(/\d{4}-\d\d-\d\d [\d:]{8}Z/g, 'THEN')).toBe(
    [
      'Firing at THEN',
      'rule        for         since                 until  team  state   account',
      'of default  1 h 30 min  THEN               firing  default',
      'of other    1 h 30 min  THEN               firing  other',
      '',
      '1 min before and after, as observed',
      'Nothing happened.',
      '',
    ].join('\n'),
  )
})

test('a run whose calls were removed for their age is not said to have made none', async () => {
  await using cli = await openCli({ rules: 1, servers: 0 })
  const { run } = await cli.sync()
  const none = await addRun(cli.ferry.pool)
  expect((await cli.ferryRun(`runs show ${none}`)).stdout).toContain('The run made no call.')
  await cli.query('delete from ferry.platform_calls')
  const shown = (await cli.ferryRun(`runs show ${run}`)).stdout
  expect(shown).toContain('they were removed for their age (FERRY_KEEP_CALLS)')
  expect(shown).not.toContain('made no call')
})

test('a report since a moment that is still to come has no rows', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  const { pool } = cli.ferry
  await insertRuleVersion(pool, { account: 'default', id: '1', name: 'one', from: '2026-01-01' })
  await insertFiring(pool, { account: 'default', id: '1', from: new Date(Date.now() - 60_000) })
  const rowsOf = async (since: string) =>
    jsonLines(await cli.ferryRun(`report rules_noisy --since ${since} --json`)).length
  expect(await rowsOf('1d')).toBeGreaterThan(0)
  expect(await rowsOf('2125-01-01')).toBe(0)
})

test('who plans to migrate is told that the schemas of readers are made anew', async () => {
  await using cli = await openCli({ rules: 1, servers: 0 })
  await cli.sync()
  const plan = async () => (await cli.ferryRun('migrate --plan')).stdout
  await cli.ferryRun('migrate --reader-of default')
  expect(await plan()).toBe('The database is up to date: nothing to do.\n')
  await cli.query('drop view ferry_reader_default.alert_rule_changes cascade')
  expect(await plan()).toBe(
    'Makes the schema for readers of default anew, which drops what others have built on it.\n',
  )
  await syncAs(cli, 'other')
  await cli.ferryRun('migrate --reader-of other')
  for (const account of ['default', 'other'])
    await cli.query(`drop view ferry_reader_${account}.alert_rule_changes cascade`)
  expect(await plan()).toBe(
    'Makes the schemas for readers of default, other anew, which drops what others have built on them.\n',
  )
})
