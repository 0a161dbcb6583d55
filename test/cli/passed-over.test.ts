import { expect, test } from 'vitest'
import { insertRuleVersion } from '#test/support/versions.ts'
import { openCli } from './open-cli.ts'

/* What was passed over without a word, or said although it was not so. */

test('options that mean nothing together are refused', async () => {
  await using cli = await openCli({ rules: 2 })
  for (const [command, words] of [
    ['rules list --label team=a --label team=b', 'The label team is given twice.'],
    ['sync all --all', '--all is for --plan; add it, or leave out --all'],
    ['sync all --plan --as zoe', "option '--plan' cannot be used with option '--as <"],
    ['sync all --plan --because why', "option '--plan' cannot be used with option '--because <"],
    ['prune --dry-run --as zoe', "option '--dry-run' cannot be used with option '--as <"],
    ['prune --dry-run --because why', "option '--dry-run' cannot be used with option '--because <"],
    ['imports rejects 1 --out=', 'Write a path.'],
    ['import --page 42 --method EMail people.csv', 'Write it in lower case: email.'],
    ['import --page 42 --suppress= people.csv', 'Write a path.'],
    ['import --page 42 --components= people.csv', 'Write a path.'],
  ] as const) {
    const { code, stdout, stderr } = await cli.ferryRun(command)
    expect({ command, code, stdout }).toEqual({ command, code: 2, stdout: '' })
    expect(stderr).toContain(words)
  }
  expect(await cli.query('select from ferry.sync_runs')).toEqual([])
  expect((await cli.ferryRun('rules list --label team=a --label tier=b')).code).toBe(0)
  expect((await cli.ferryRun('sync all --plan --all')).code).toBe(0)
})

test('an empty list of changes says what was looked at, and proposes only what looks further', async () => {
  await using cli = await openCli()
  await insertRuleVersion(cli.ferry.pool, { id: '7', name: 'seven', from: '2026-01-01T00:00:00Z' })
  const further = '`--since 7d` looks further back.'
  for (const [options, words] of [
    ['', `Nothing changed in the last day. ${further}`],
    ['--by Tom', `No change of the last day matches. ${further}`],
    ['--since 7d', 'No change matches.'],
    ['--since 30d --by Tom', 'No change matches.'],
    ['--rule 7 --by Tom', 'No change matches.'],
    ['--rule 7 --since 1d', 'No change matches.'],
  ] as const) {
    const { stdout } = await cli.ferryRun(`changes ${options}`.trim())
    expect({ options, stdout }).toEqual({ options, stdout: `${words}\n` })
  }
})

test('of a hold that a run of other folders replaced nobody says that somebody decided', async () => {
  await using cli = await openCli({ rules: 24 })
  const folder = cli.sandbox.state.rules.rows()[0]?.folder_id
  await cli.sync()
  await cli.ferryRun(`sync alert-rules --folder ${folder}`)
  for (const id of cli.sandbox.state.rules.ids()) cli.sandbox.state.removeRule(id)
  const { run } = await cli.sync()
  await cli.ferryRun(`sync alert-rules --folder ${folder}`)
  expect(await cli.query('select outcome from ferry.removal_holds order by id')).toMatchObject([
    { outcome: 'voided' },
    {},
  ])
  const why = 'a later run found the rows again or looked at other folders'
  expect((await cli.ferryRun(`runs show ${run}`)).stdout).toContain(`somebody decided, or ${why}.`)
  expect((await cli.ferryRun(`runs approve ${run}`)).stderr).toContain(why)
})
