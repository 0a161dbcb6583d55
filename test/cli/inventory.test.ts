import { describe, expect, test } from 'vitest'
import { takeSnapshot } from '#src/inventory/history/snapshots.ts'
import { addRun } from '#test/support/runs.ts'
import { addSnapshot } from '#test/support/snapshots.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { type Cli, openCli, syncAs } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

const NEVER = new AbortController().signal
const HUGE = 18446744073709551615n

/** Two nights: a rule switched off by Ada and moved to a huge folder, one removed, one added; a server renamed. */
async function openTwoNights(): Promise<Cli & { firstNight: Date }> {
  const cli = await openCli({ rules: 0, servers: 0 })
  const { state } = cli.sandbox
  state.addRule({ id: HUGE, name: 'disk full', folder_id: 7n, enabled: true, labels: { team: 'core' } })
  state.addRule({ id: 2n, name: 'to be removed', folder_id: 7n, triggered: true })
  state.addServer({ server_id: 's1', server_name: 'old name', team_id: 5n, status: 'enabled' })
  const { takenAt } = await takeSnapshot(cli.ferry, { account: 'default', trigger: 'manual' }, NEVER)
  state.changeRule(HUGE, { enabled: false, folder_id: HUGE, updater_name: 'Ada Lovelace' })
  state.removeRule(2n)
  const now = BigInt(Math.floor(Date.now() / 1_000))
  state.addRule({
    id: 3n,
    name: 'new rule',
    folder_id: 8n,
    triggered: true,
    updater_name: 'Bob',
    created_at: now,
  })
  state.changeServer('s1', { server_name: 'new name' })
  await takeSnapshot(cli.ferry, { account: 'default', trigger: 'manual' }, NEVER)
  return Object.assign(cli, { firstNight: takenAt! })
}

describe('ferry changes', () => {
  test('is the table of the README: what happened, to which rule, by whom and when; ids exact', async () => {
    await using cli = await openTwoNights()
    const { code, stdout } = await cli.ferryRun('changes')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^change +name +what +by +when$/m)
    expect(stdout).toMatch(
      /^changed +disk full +enabled: true → false, folder_id: 7 → 18446744073709551615 +Ada Lovelace +\d{4}-/m,
    )
    expect(stdout).toMatch(/^removed +to be removed +\d{4}-/m)
    expect(stdout).toMatch(/^changed +MCP server new name +.*server_name: "old name" → "new name"/m)
    const lines = jsonLines(await cli.ferryRun('changes --json'))
    expect(lines).toHaveLength(6)
    expect(stdout).toMatch(/^first reading +2 alert rules of default +\d{4}-/m)
    expect(lines.find(({ change, rows }) => change === 'first reading' && rows === 1)).toMatchObject({
      resource: 'mcp-servers',
      id: null,
      by: null,
    })
    expect(lines.find(({ change, id }) => change === 'changed' && id === `${HUGE}`)).toMatchObject({
      resource: 'alert-rules',
      account: 'default',
      name: 'disk full',
      by: 'Ada Lovelace',
      run: expect.stringMatching(/^\d+$/),
      at: expect.stringMatching(/Z$/),
      before: { enabled: true, folder_id: '7' },
      after: { enabled: false, folder_id: `${HUGE}` },
    })
  })

  test('narrows by person, rule, server, account and time, and says how many more there are', async () => {
    await using cli = await openTwoNights()
    const idsOf = async (args: string) =>
      jsonLines(await cli.ferryRun(`changes --json ${args}`)).map(({ id, change }) => `${id} ${change}`)
    expect(await idsOf('--by Bob')).toEqual(['3 added'])
    expect(await idsOf('--rule 2')).toEqual(['2 removed', '2 first reading'])
    expect(await idsOf('--server s1')).toEqual(['s1 changed', 's1 first reading'])
    expect((await syncAs(cli, 'other', { wrongKey: true })).code).toBe(4)
    expect(await idsOf('--account other')).toEqual([])
    await cli.query(`update ferry.alert_rule_versions set valid_from = valid_from - interval '2 days',
      valid_to = case when id = 2 then valid_to - interval '1 day 23 hours' else valid_to end where id in (2, 3)`)
    expect(await idsOf('--rule 2')).toEqual(['2 removed', '2 first reading'])
    expect(await idsOf('--since 1h')).not.toContain('3 added')
    expect(await idsOf('--since 3d')).toContain('3 added')
    const few = await cli.ferryRun('changes --limit 2 --since 3d')
    expect(few.stdout).toContain('and 4 more (--all shows them)')
    expect((await cli.ferryRun('changes --all --since 3d')).stdout.trim().split('\n')).toHaveLength(7)
  })

  test('of a rule or server that was never seen says so, and exits 2', async () => {
    await using cli = await openTwoNights()
    for (const [which, noun] of [
      ['--rule 1', 'rules'],
      ['--server 1', 'servers'],
    ]) {
      expect(await cli.ferryRun(`changes ${which}`)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: `ferry: nothing with the id 1 is known; \`ferry ${noun} list\` lists what is known\n`,
      })
    }
    expect(await cli.ferryRun('changes --rule 2 --since 2999-01-01')).toMatchObject({ code: 0 })
  })

  test('with nothing to show says what to try', async () => {
    await using cli = await openCli()
    expect(await cli.ferryRun('changes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('--since 7d'),
    })
    expect(await cli.ferryRun('changes --since 2026-02-31')).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('ferry rules and servers', () => {
  test('list those of now and of any instant, narrowed by filters', async () => {
    await using cli = await openTwoNights()
    const names = async (args: string) =>
      jsonLines(await cli.ferryRun(`${args} --json`)).map(row => row.name ?? row.server_name)
    const then = `--as-of ${cli.firstNight.toISOString()}`
    expect(await names('rules list')).toEqual(['disk full', 'new rule'])
    expect(await names(`rules list ${then}`)).toEqual(['disk full', 'to be removed'])
    expect(await names('rules list --firing')).toEqual(['new rule'])
    expect(await names(`rules list --firing ${then}`)).toEqual(['to be removed'])
    expect(await names('rules list --disabled')).toEqual(['disk full'])
    expect(await names(`rules list --disabled ${then}`)).toEqual([])
    expect(await names(`rules list --folder ${HUGE}`)).toEqual(['disk full'])
    expect(await names('rules list --name DISK')).toEqual(['disk full'])
    expect(await names('rules list --label team=core')).toEqual(['disk full'])
    expect((await syncAs(cli, 'other', { wrongKey: true })).code).toBe(4)
    expect(await names('rules list --account other')).toEqual([])
    expect(await names('servers list')).toEqual(['new name'])
    expect(await names(`servers list --team 5 --enabled ${then}`)).toEqual(['old name'])
    expect(await names('servers list --disabled')).toEqual([])
    const [rule] = jsonLines(await cli.ferryRun('rules list --name disk --json'))
    expect(rule).toMatchObject({ id: `${HUGE}`, folder_id: `${HUGE}`, delay_seconds: expect.any(Number) })
    expect((await cli.ferryRun('rules list --limit 1')).stdout).toContain('and 1 more (--all shows them)')
  })

  test('show one with its history, as it is, was, and last was', async () => {
    await using cli = await openTwoNights()
    const [rule] = jsonLines(await cli.ferryRun('rules show 2 --json'))
    expect(rule).toMatchObject({
      id: '2',
      name: 'to be removed',
      valid_to: expect.stringMatching(/Z$/),
      closed_by_run: expect.stringMatching(/^\d+$/),
      triggered: false,
      changes: [{ change: 'removed' }, { change: 'first reading' }],
      firings: [{ began: expect.any(String), ended: expect.any(String) }],
    })
    expect((await cli.ferryRun('rules show 2')).stdout).toMatch(/^began +ended *\n/m)
    const then = cli.firstNight.toISOString()
    const [earlier] = jsonLines(await cli.ferryRun(`rules show 2 --as-of ${then} --json`))
    expect(earlier).toMatchObject({
      valid_to: null,
      closed_by_run: null,
      triggered: true,
      changes: [{ change: 'first reading' }],
      firings: [{ ended: null }],
    })
    const people = await cli.ferryRun('servers show s1')
    expect(people.stdout).toMatch(/^server_name +new name$/m)
    expect(people.stdout).toMatch(/^changed +MCP server new name/m)
    expect(await cli.ferryRun('rules show 99')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('`ferry rules list`'),
    })
  })
})

test('ferry snapshots diff shows what a first reading found as one entry, and marks its rows in JSON', async () => {
  await using cli = await openCli()
  const { pool } = cli.ferry
  const read = { account: 'default', appeared: 'first reading' } as const
  const night = (day: number) => `2026-06-0${day}T00:00:00Z`
  await insertRuleVersion(pool, { ...read, id: '1', name: 'as it was', from: night(2) })
  await insertRuleVersion(pool, { ...read, id: '2', name: 'edited since', from: night(2), to: night(3) })
  await insertRuleVersion(pool, { account: 'default', id: '2', name: 'edited', by: 'Joan', from: night(3) })
  await insertRuleVersion(pool, { account: 'default', id: '3', name: 'new', by: 'Ada', from: night(3) })
  await insertRuleVersion(pool, {
    account: 'default',
    id: '4',
    name: 'moved here',
    by: 'Ada',
    from: night(3),
    appeared: 'unexplained',
  })
  await insertServerVersion(pool, { ...read, id: 's1', name: 'a server', from: night(2) })
  const ids = [await addSnapshot(pool, 'default', night(1)), await addSnapshot(pool, 'default', night(4))]
  const [a, b] = ids
  const { stdout } = await cli.ferryRun(`snapshots diff ${a} ${b}`)
  expect(stdout.split('\n').map(line => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
    'inventory | change | id | name | folder | what | by',
    'alert-rules | added | 4 | moved here | 1',
    'alert-rules | added | 3 | new | 1 | Ada',
    'alert-rules | first reading | 2 alert rules of default',
    'mcp-servers | first reading | 1 MCP server of default',
    '',
    '4 differences.',
    '',
  ])
  expect((await cli.ferryRun(`snapshots diff ${a} ${b} --limit 3`)).stdout).toContain('and 1 more')
  const json = jsonLines(await cli.ferryRun(`snapshots diff ${a} ${b} --json`))
  expect(json.map(({ id, change, by, firstReading }) => [id, change, by, firstReading]).sort()).toEqual([
    ['1', 'added', null, true],
    ['2', 'added', 'Joan', true],
    ['3', 'added', 'Ada', false],
    ['4', 'added', null, false],
    ['s1', 'added', null, true],
  ])
  // Backwards, they are gone.
  const backwards = await cli.ferryRun(`snapshots diff ${b} ${a} --json`)
  expect(backwards.stderr).toContain(`snapshot ${b} is later than snapshot ${a}: this looks back`)
  const back = jsonLines(backwards)
  expect(back.every(({ change, firstReading }) => change === 'removed' && firstReading === false)).toBe(true)
  expect(back).toHaveLength(5)
})

test('ferry snapshots diff without numbers compares the last two, of the account that is named if there are several', async () => {
  await using cli = await openCli()
  const { pool } = cli.ferry
  const none = await cli.ferryRun('snapshots diff')
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('there are no two snapshots yet') })
  const night = (day: number) => `2026-06-0${day}T00:00:00Z`
  for (const day of [1, 3, 5]) {
    await insertRuleVersion(pool, {
      account: 'default',
      id: `${day}`,
      name: `rule ${day}`,
      by: 'Ada',
      from: night(day),
    })
    await addSnapshot(pool, 'default', night(day))
  }
  const found = async (args: string) =>
    jsonLines(await cli.ferryRun(`snapshots diff ${args} --json`.replace('  ', ' '))).map(
      ({ id, change }) => `${change} ${id}`,
    )
  expect(await found('')).toEqual(['added 5'])
  expect(await found('1 3')).toEqual(['added 3', 'added 5'])
  expect(await cli.ferryRun('snapshots diff 1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('one snapshot has nothing to be compared with'),
  })
  for (const day of [1, 3]) await addSnapshot(pool, 'other', night(day))
  expect(await cli.ferryRun('snapshots diff')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('snapshots of the accounts default, other; name one with --account'),
  })
  expect(await found('--account default')).toEqual(['added 5'])
  expect(await found('1 3 --account default')).toEqual(['added 3', 'added 5'])
  await addRun(pool, { account: 'other' })
  for (const [args, words] of [
    ['1 3 --account other', 'the snapshots 1 and 3 belong to account default, not to other'],
    ['1 3 --account defualt', '"defualt" is not an account; did you mean default?'],
    ['--account defualt', '"defualt" is not an account; did you mean default?'],
  ]) {
    const refused = { code: 2, stdout: '', stderr: expect.stringContaining(words ?? '') }
    expect(await cli.ferryRun(`snapshots diff ${args}`)).toMatchObject(refused)
  }
  await pool.query(`delete from ferry.snapshots where account = 'other'`)
  expect(await cli.ferryRun('snapshots diff --account other')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('account other has no two snapshots yet'),
  })
})

test('ferry snapshots diff shows folder, who, old and new values with their types', async () => {
  await using cli = await openTwoNights()
  const { stdout } = await cli.ferryRun('snapshots diff 1 2')
  expect(stdout).toMatch(
    /changed +18446744073709551615 +disk full +18446744073709551615 +enabled: true → false, folder_id: 7 → .* +Ada Lovelace$/m,
  )
  // Team 5 of the server stands in no column of folders.
  expect(stdout).toMatch(/changed +s1 +new name +server_name: /m)
  expect(stdout).toContain('4 differences.')
  const [, changed] = jsonLines(await cli.ferryRun('snapshots diff 1 2 --json'))
  expect(changed).toMatchObject({
    change: 'changed',
    fields: expect.arrayContaining(['enabled', 'folder_id']),
    before: { enabled: true, folder_id: '7' },
    after: { enabled: false, folder_id: `${HUGE}` },
  })
  // The other way round, what was added was removed.
  const back = jsonLines(await cli.ferryRun('snapshots diff 2 1 --json'))
  expect(back.map(({ change, id }) => `${change} ${id}`)).toEqual([
    'added 2',
    `changed ${HUGE}`,
    'removed 3',
    'changed s1',
  ])
  expect((await cli.ferryRun('snapshots diff 1 2 --limit 1')).stdout).toContain(
    'and 3 more (--all shows them)',
  )
})
