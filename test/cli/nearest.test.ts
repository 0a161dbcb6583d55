import { expect, test } from 'vitest'
import { addRun } from '#test/support/runs.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { openCli } from './open-cli.ts'
import { jsonLines, runFerryHere } from './run-ferry.ts'
import { canOpenTerminal, inTerminal } from './terminal.ts'

const LONG_AGO = '2026-01-01'

async function openSome() {
  const cli = await openCli({ rules: 0, servers: 0 })
  const { pool } = cli.ferry
  await addRun(pool)
  const rule = { account: 'default', from: LONG_AGO, flags: ['timezone'] }
  await insertRuleVersion(pool, {
    ...rule,
    id: '1',
    name: 'Checkout: disk full',
    folder: 3001,
    by: 'Ada Lovelace',
    labels: { team: 'payments', severity: 'critical', 'odd=key': 'value' },
  })
  await insertRuleVersion(pool, { ...rule, id: '2', name: 'kafka lag', folder: 42, by: 'Grace Hopper' })
  await insertServerVersion(pool, { account: 'default', id: 's', name: 'Search tools', from: LONG_AGO })
  return cli
}

test('an empty list names the word, folder, team, label or person that may have been meant, beside an unchanged result', async () => {
  await using cli = await openSome()
  const hint = async (args: string) => {
    const { code, stdout, stderr } = await cli.ferryRun(args)
    expect({ args, code, stdout }).toEqual({
      args,
      code: 0,
      stdout: expect.stringMatching(/^(None found|No change of the last day matches|Firing at)/),
    })
    return stderr
  }
  expect(await hint('rules list --name chekout')).toBe(
    'ferry: nothing matches "chekout"; did you mean checkout?\n',
  )
  expect((await runFerryHere(['rules', 'list', '--match', 'disk Chekout'], cli.env)).stderr).toBe(
    'ferry: nothing matches "Chekout"; did you mean checkout?\n',
  )
  expect(await hint('rules list --folder 3010')).toBe('ferry: nothing matches "3010"; did you mean 3001?\n')
  expect(await hint('rules list --folder 300')).toBe('ferry: nothing matches "300"; did you mean 3001?\n')
  expect(await hint('rules list --label severity=critcal --label team=payments')).toBe(
    'ferry: nothing matches "severity=critcal"; did you mean severity=critical?\n',
  )
  expect(await hint('rules list --label odd=key=value')).toBe('')
  // Beside that, not all of that time is known.
  expect(await hint('at 2m --match chekout --team paymets --folder 3010')).toMatch(
    /\nferry: nothing matches "chekout"; did you mean checkout\?\nferry: nothing matches "3010"; did you mean 3001\?\nferry: nothing matches "paymets"; did you mean payments\?\n$/,
  )
  expect(await hint('changes --by Hoper')).toBe(
    'ferry: no rule was last edited by "Hoper"; did you mean Hopper?\n',
  )
  expect(await hint('servers list --name serch')).toBe(
    'ferry: nothing matches "serch"; did you mean search?\n',
  )
  expect(await hint('changes --by Ada')).toBe('')
  // What is found alone is not misspelled, also a word of a label, or one with what stands between words.
  for (const found of ['--match payments', '--match checkout:', '--folder 3001'])
    expect(await hint(`rules list --disabled ${found}`), found).toBe('')
  expect(await hint('rules list --match chekout --name full --folder 42')).toBe(
    'ferry: nothing matches "chekout"; did you mean checkout?\n',
  )
  expect(await hint('rules list --name zzzzzz')).toBe('')
  const { stderr } = await runFerryHere(['changes', '--by', 'ada lovelase'], cli.env)
  expect(stderr).toBe('ferry: no rule was last edited by "ada lovelase"; did you mean Ada Lovelace?\n')
  expect(await cli.ferryRun('rules list --name chekout --json')).toMatchObject({ code: 0, stdout: '' })
})

test('an account, a report and a schedule that do not exist are answered with the nearest, and exit 2', async () => {
  await using cli = await openSome()
  for (const [args, words] of [
    ['rules list --account defautl', '"defautl" is not an account; did you mean default?'],
    ['report rules_noizy', '"rules_noizy" is not a report; did you mean rules_noisy? `ferry report` lists'],
    ['report NAME', '…; `ferry report` lists them all'],
    ['schedules run poll-mcp-server', '"poll-mcp-server" is not a schedule; did you mean poll-mcp-servers?'],
    ['rules show checkout', "`ferry rules list --name 'checkout'` finds it by its name."],
  ] as const) {
    expect(await cli.ferryRun(args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(words),
    })
  }
})

test('`show` leaves out how Ferry stored it, unless --all or --json asks for it', async () => {
  await using cli = await openSome()
  for (const noun of ['rules show 1', 'servers show s']) {
    const { stdout: plain } = await cli.ferryRun(noun)
    expect(plain).toMatch(/^valid_from /m)
    expect(plain).not.toMatch(/^(fingerprint|flags|altered|appeared|opened_by_run|closed_by_run)\b/m)
    const { stdout: all } = await cli.ferryRun(`${noun} --all`)
    for (const field of ['fingerprint', 'flags', 'opened_by_run'])
      expect(all).toMatch(new RegExp(`^${field}\\b`, 'm'))
    expect(Object.keys(jsonLines(await cli.ferryRun(`${noun} --json`))[0]!)).toContain('fingerprint')
  }
})

test('the future is answered with the present and a warning on stderr', async () => {
  await using cli = await openSome()
  const warned =
    'ferry: warning: 2125-01-01 00:00:00Z is in the future, and nothing is known of it. Shown is what is known now'
  for (const [args, shown] of [
    ['rules list --as-of 2125-01-01', 'kafka lag'],
    ['rules list --as-of 2125-01-01 --json', 'kafka lag'],
    ['servers list --as-of 2125-01-01', 'Search tools'],
    ['rules show 2 --as-of 2125-01-01', 'kafka lag'],
    ['at 2125-01-01', 'Firing at 20'],
  ] as const) {
    const { code, stdout, stderr } = await cli.ferryRun(args)
    expect({ code, warned: stderr.startsWith(warned) }).toEqual({ code: 0, warned: true })
    expect(stdout).toContain(shown)
    expect(stdout).not.toContain('2125')
  }
  expect((await cli.ferryRun('rules list --as-of 1h')).stderr).not.toContain('future')
})

test('a list since a moment that is still to come is empty with a warning on stderr', async () => {
  await using cli = await openSome()
  for (const args of [
    'changes',
    'changes --json',
    'imports list',
    'report rules_noisy',
    'report runs_health',
  ]) {
    const { stdout, stderr } = await cli.ferryRun(`${args} --since 2125-01-01`)
    expect(stdout.includes('Checkout'), args).toBe(false)
    expect(stderr, args).toContain(
      'ferry: warning: 2125-01-01 00:00:00Z is in the future: nothing has begun or changed since then.\n',
    )
    expect((await cli.ferryRun(`${args} --since 1h`)).stderr, args).not.toContain('future')
  }
  for (const args of ['changes --limit 1', 'report changes_between']) {
    expect((await cli.ferryRun(`${args} --since 2025-12-01`)).stdout, args).toContain('Checkout')
  }
})

test.skipIf(!canOpenTerminal)(
  'a log line has its level as a word on a terminal, and as a number in JSON',
  async () => {
    await using cli = await openCli({ rules: 1, servers: 0 }, { FERRY_LOG_LEVEL: 'debug' })
    const { shown } = await inTerminal(['sync', 'all'], cli.env)
    expect(shown).toMatch(/^\d\d:\d\d:\d\d debug /m)
    const { stderr } = await cli.ferryStart('sync all').ended
    expect(stderr).toMatch(/^\{"level":20,/m)
  },
)
