import { describe, expect, test } from 'vitest'
import { openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

describe('--plan', () => {
  test('says how many more there are, shows all with --all, and values as they are', async () => {
    await using cli = await openCli({ rules: 3 })
    await cli.sync()
    const [changed] = cli.sandbox.state.rules.ids()
    cli.sandbox.state.changeRule(changed!, {
      enabled: false,
      folder_id: 18446744073709551615n,
      delay_seconds: 7n,
    })
    const created_at = BigInt(Math.floor(Date.now() / 1_000))
    for (let id = 1n; id <= 12n; id++)
      cli.sandbox.state.addRule({ id, name: `rule ${id}`, updater_name: 'Ada', created_at })
    const few = await cli.ferryRun('sync alert-rules --plan')
    expect(few.stdout).toContain('and 7 more (--all shows them)')
    const all = await cli.ferryRun('sync alert-rules --plan --all')
    expect(all.stdout).toMatch(/^\+ +12 +rule 12 +\d+ +Ada$/m)
    const [line] = jsonLines(await cli.ferryRun('sync alert-rules --plan --json'))
    const samples = line?.samples as Record<string, unknown>[]
    expect(samples).toHaveLength(13)
    expect(samples.find(({ change }) => change === 'changed')).toMatchObject({
      id: `${changed}`,
      folder: '18446744073709551615',
      fields: {
        enabled: { before: true, after: false },
        folder_id: { before: expect.stringMatching(/^\d+$/), after: '18446744073709551615' },
        delay_seconds: { before: expect.any(Number), after: 7 },
      },
    })
  })

  test('shows what a first reading would find as one entry, and marks its rows in JSON', async () => {
    await using cli = await openCli({ rules: 7, servers: 2 })
    for (const options of ['', ' --all']) {
      const { stdout } = await cli.ferryRun(`sync all --plan${options}`)
      expect(stdout.split('\n')).toEqual([
        expect.stringMatching(/^default alert-rules: 7 seen, 7 added, /),
        '  first reading: 7 alert rules of default, which were there before the first sync',
        expect.stringMatching(/^default mcp-servers: 2 seen, 2 added, /),
        '  first reading: 2 MCP servers of default, which were there before the first sync',
        '',
      ])
    }
    const [line] = jsonLines(await cli.ferryRun('sync alert-rules --plan --json'))
    expect(line).toMatchObject({ added: 7, firstRead: 7 })
    const samples = line?.samples as Record<string, unknown>[]
    expect(samples).toHaveLength(7)
    for (const one of samples) expect(one).toMatchObject({ change: 'added', by: null, firstReading: true })
  })

  test('prints counts and samples of the differences, and writes nothing', async () => {
    await using cli = await openCli({ rules: 5, servers: 2 })
    await cli.sync()
    const [changed, removed] = cli.sandbox.state.rules.ids()
    cli.sandbox.state.changeRule(changed!, { name: 'another name' })
    cli.sandbox.state.removeRule(removed!)
    cli.sandbox.state.addRule({ id: 77n })
    const before = await cli.query('select * from ferry.sync_runs')

    const ended = await cli.ferryRun('sync alert-rules --plan')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toContain('5 seen, 1 added, 1 changed, 1 removed, 3 unchanged, 0 quarantined')
    expect(ended.stdout).toMatch(
      new RegExp(`^~ +${changed} +another name +\\d+ +name: .* → "another name" +\\S`, 'm'),
    )
    expect(ended.stdout).toMatch(new RegExp(`^- +${removed} +\\S.* +\\d+$`, 'm'))
    expect(ended.stdout).toMatch(/^\+ +77 +\S/m)

    const [line] = jsonLines(await cli.ferryRun('sync alert-rules --plan --json'))
    expect(line).toMatchObject({
      account: 'default',
      resource: 'alert-rules',
      added: 1,
      changed: 1,
      removed: 1,
    })
    expect(await cli.query('select * from ferry.sync_runs')).toEqual(before)
    expect(await cli.query('select id from ferry.alert_rules where id in (77, $1)', [changed])).toHaveLength(
      1,
    )
  })

  test('exits 4 if the platform refuses it', async () => {
    await using cli = await openCli()
    expect(await cli.ferryRun('sync all --plan', { FERRY_APP_KEY: 'wrong' })).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/account default, alert-rules: Unauthorized\..*request_id \w+/),
    })
  })
})
