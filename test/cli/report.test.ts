import { describe, expect, test } from 'vitest'
import { printRows } from '#src/cli/report-formats.ts'
import { REPORTS } from '#src/reports/catalogue.ts'
import { openCli } from './open-cli.ts'
import { jsonLines, runFerryHere } from './run-ferry.ts'

/** The options of each report, and the inventories of which it says when they are late. */
const LISTED: Readonly<Record<string, string>> = {
  freshness: '--account',
  freshness_daily: '--since --account',
  nights: '--since --account --night',
  blind_spots: '--since --account',
  rules_noisy: '--since --account of alert-rules',
  rules_longest_firing: '--since --account of alert-rules',
  time_to_clear: '--since --account of alert-rules',
  rules_never_fired: '--account of alert-rules',
  rules_switched_off: '--account of alert-rules',
  rules_debug_left_on: '--account of alert-rules',
  rules_contract_breaks: '--account of alert-rules',
  rules_default_timezone: '--account of alert-rules',
  cron_load: '--account of alert-rules',
  rules_by_folder: '--account --night of alert-rules',
  rules_by_team: '--account --night of alert-rules',
  rules_unowned: '--account --night of alert-rules',
  editors: '--since --account of alert-rules',
  edits_by_person: '--since --account of alert-rules',
  churn_by_folder: '--since --account of alert-rules',
  mass_edits: '--since --account of alert-rules',
  changes_between: '--since --account of alert-rules and mcp-servers',
  silenced: '--since --account of alert-rules',
  mcp_tools: '--account --night of mcp-servers',
  mcp_tool_changes: '--since --account of mcp-servers',
  mcp_risk: '--account of mcp-servers',
  mcp_by_team: '--account --night of mcp-servers',
  import_funnel: '--since --account',
  rejects_by_reason: '--since --account',
  subscribers_by_page_locale: '--account',
  import_throughput: '--since --account',
  limit_use: '--since --account',
  call_latency: '--since --account',
  calls_refused: '--since --account',
  runs_health: '--since --account',
  audit_log: '--since --account',
}

describe('ferry report', () => {
  test('lists all reports with one line each, and needs no database for it', async () => {
    const { code, stdout } = await runFerryHere(['report'], {})
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n').slice(1)
    expect(lines.map(line => line.split(' ')[0])).toEqual(Object.keys(LISTED))
    const listed = jsonLines(await runFerryHere(['report', '--json'], {}))
    expect(listed[0]).toEqual({ report: 'freshness', shows: REPORTS[0]?.shows, options: ['--account'] })
    const shown = listed.map(({ report, options }, n) => {
      const { of = [] } = REPORTS[n] ?? {}
      return [report, [options].flat().join(' ') + (of.length > 0 ? ` of ${of.join(' and ')}` : '')]
    })
    expect(Object.fromEntries(shown)).toEqual(LISTED)
  })

  test('prints a report as a table, as CSV and as JSON', async () => {
    await using cli = await openCli({ rules: 3 })
    await cli.sync()
    expect((await cli.ferryRun('report freshness')).stdout).toMatch(
      /^default +alert-rules +2\d{3}-.* no target/m,
    )
    const [head, row, ...rest] = (await cli.ferryRun('report freshness --format csv')).stdout.split('\n')
    expect(head).toMatch(/^account,inventory,last_complete_at,last_complete_run,age,/)
    expect(row).toMatch(/^default,alert-rules,2\d{3}-\d\d-\d\dT[\d:.]+Z,1,\d+(\.\d+)?,,no target,,,,$/)
    expect(rest).toEqual([''])
    const json = jsonLines(await cli.ferryRun('report freshness --json'))
    expect(json).toMatchObject([{ account: 'default', last_complete_run: '1', age: expect.any(Number) }])
    const same = jsonLines(await cli.ferryRun('report freshness --format json'))
    expect(same.map(({ age, ...row }) => row)).toEqual(json.map(({ age, ...row }) => row))
  })

  test('names the nearest report for a name that is none, also one with SQL in it', async () => {
    const run = (...args: string[]) => runFerryHere(['report', ...args], {})
    expect(await run('freshnes')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'ferry: "freshnes" is not a report; did you mean freshness? `ferry report` lists them all\n',
    })
    for (const name of [
      'freshness; drop schema ferry cascade',
      'freshness where true',
      'ferry.freshness',
      '',
    ]) {
      expect(await run(name)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('is not a report'),
      })
    }
  })

  test('takes an argument with SQL in it as what it is: no account is called so', async () => {
    await using cli = await openCli({ rules: 3 })
    await cli.sync()
    const unconfigured = { ...cli.env, FERRY_BASE_URL: '', FERRY_APP_KEY: '' }
    for (const account of [`x' or '1'='1`, `default'; drop schema ferry cascade; --`, 'a\nb"c']) {
      const ended = await runFerryHere(['report', 'freshness', '--json', '--account', account], unconfigured)
      expect(ended).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('is not an account; '),
      })
    }
    expect(jsonLines(await cli.ferryRun('report freshness --json --account default'))).toHaveLength(1)
    expect((await cli.ferryRun('report freshness --account nope')).stderr).toContain(
      '"nope" is not an account',
    )
  })

  test('shows a night by its snapshots, and says which it lacks', async () => {
    await using cli = await openCli({ rules: 2, servers: 1 })
    expect((await cli.ferryRun('snapshots take')).code).toBe(0)
    const [taken] = await cli.query<{ night: string }>('select night::text from ferry.nights()')
    const night = taken?.night ?? ''
    const run = (args: string) => cli.ferryRun(`report rules_by_folder --json${args}`)
    const now = await run('')
    expect(now).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('"rules":') })
    expect(await run(` --night ${night}`)).toEqual(now)
    expect(jsonLines(await cli.ferryRun(`report nights --night ${night} --json`))).toMatchObject([{ night }])
    for (const [none, words] of [
      ['2020-01-01', '; `ferry report nights --since 2020-01-01` lists the nights'],
      ['2999-12-31', ', which is still to come; `ferry report nights` lists the nights'],
    ]) {
      expect(await run(` --night ${none}`)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: `ferry: there is no snapshot of the night ${none}${words}\n`,
      })
    }
    await cli.query(`insert into ferry.history (starts_at) values (now() - interval '10 days')`)
    await cli.query(
      `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
       select 'other', at, at, status, 1, 1 from (values (now() - interval '1 day', 'succeeded'), (now(), 'partial')) as s (at, status)`,
    )
    expect(await run(` --night ${night}`)).toEqual({
      ...now,
      stderr: `ferry: the snapshot of account other of the night ${night} is partial, so it may lack changes.\n`,
    })
    expect(await run(` --night ${night} --account default`)).toEqual(now)
    await cli.query(`delete from ferry.snapshots where status = 'partial'`)
    await cli.query(
      `update ferry.snapshots set taken_at = taken_at - interval '20 days', slot = slot - interval '20 days'`,
    )
    const [early] = await cli.query<{ night: string }>(
      `select night::text from ferry.nights(now() - interval '30 days') where account = 'default' and status <> 'missed'`,
    )
    const removed = {
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/The history starts at .*\n.*FERRY_KEEP_VERSIONS/s),
    }
    expect(await run(` --night ${early?.night}`)).toMatchObject(removed)
    await cli.query('delete from ferry.snapshots')
    expect(await run(` --night ${early?.night}`)).toMatchObject(removed)
  })

  test('refuses options that a report does not take, and values that it cannot read', async () => {
    const run = (args: string) => runFerryHere(['report', ...args.split(' ')], {})
    expect((await run('freshness --since 7d --night 2026-11-20')).stderr).toBe(
      'ferry: freshness does not take --since or --night; it takes --account\n',
    )
    expect((await run('--account a')).code).toBe(2)
    expect((await run(`freshness --night 2026-02-31`)).stderr).toContain('Write a date: 2026-11-20.')
    expect((await run(`freshness --since now()`)).code).toBe(2)
    expect((await run('freshness --format xml')).code).toBe(2)
    expect((await run('freshness --json --format csv')).code).toBe(2)
  })
})

describe('the entries of the catalogue', () => {
  test.for(REPORTS)('$name: its query runs with all its options and with none', async report => {
    await using cli = await openCli({ rules: 0 })
    const { runReport } = await import('#src/reports/run-report.ts')
    const none = await runReport(cli.ferry.pool, report, {})
    expect(new Set(none.columns).size).toBe(none.columns.length)
    const given = { since: new Date('2026-11-01'), account: 'a', night: '2026-11-20' }
    expect((await runReport(cli.ferry.pool, report, given)).rows).toEqual([])
    expect(report.shows).not.toMatch(/\.$/)
  })
})

test('a duration keeps its fraction of a second, also a negative one', async () => {
  await using cli = await openCli({ rules: 0 })
  const { runReport } = await import('#src/reports/run-report.ts')
  const report = {
    name: 'durations',
    shows: 'two durations',
    takes: [],
    query: `select interval '1 day 2.3 seconds' as long, interval '-0.25 seconds' as before`,
  }
  expect((await runReport(cli.ferry.pool, report, {})).rows).toEqual([
    [{ intervalMs: 86_402_300 }, { intervalMs: -250 }],
  ])
})

test('the formats keep ids exact, and make text harmless for spreadsheets', async () => {
  const { printed } = await captured(() =>
    printRows(
      ['id', 'name', 'share', 'labels', 'for', 'ids', 'at'],
      [
        [
          18446744073709551615n,
          '=cmd|"x"',
          0.5,
          { json: '{"id": 18446744073709551615, "n": 1}' },
          { intervalMs: 90_500 },
          ['18446744073709551615'],
          new Date(0),
        ],
        [1n, 'a,b\nc', -1, null, { intervalMs: -1_000 }, [], null],
      ],
      'csv',
      '',
    ),
  )
  expect(printed).toBe(
    'id,name,share,labels,for,ids,at\n' +
      `18446744073709551615,"'=cmd|""x""",0.5,"{""id"": 18446744073709551615, ""n"": 1}",90.5,"[""18446744073709551615""]",1970-01-01T00:00:00.000Z\n` +
      '1,"a,b\nc",-1,,-1,[],\n',
  )
})

async function captured(work: () => Promise<void>): Promise<{ printed: string }> {
  let printed = ''
  const { write } = process.stdout
  process.stdout.write = ((text: string) => {
    printed += text
    return true
  }) as typeof write
  try {
    await work()
  } finally {
    process.stdout.write = write
  }
  return { printed }
}
