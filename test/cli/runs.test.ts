import { describe, expect, test } from 'vitest'
import { openCli, syncAs } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'
import { canOpenTerminal, inTerminal, linesOf } from './terminal.ts'

describe('ferry runs', () => {
  test('list shows the newest runs first, as many as asked for', async () => {
    await using cli = await openCli({ rules: 4 })
    for (let run = 0; run < 3; run++) await cli.sync()
    const ended = await cli.ferryRun('runs list --limit 2 --json')
    expect(ended.code).toBe(0)
    expect(jsonLines(ended)).toMatchObject([
      {
        run: '3',
        account: 'default',
        resource: 'alert-rules',
        trigger: 'manual',
        status: 'succeeded',
        seen: 4,
      },
      { run: '2' },
    ])
    expect((await cli.ferryRun('runs list')).stdout).toMatch(/^ +3 +default +alert-rules +manual +succeeded/m)
  })

  test('list narrows by account, inventory, status and time', async () => {
    await using cli = await openCli({ rules: 4 })
    await cli.sync()
    await cli.sync({ resource: 'mcp-servers' })
    await cli.query(`update ferry.sync_runs set started_at = now() - interval '3 days' where id = 1`)
    const { listRuns } = await import('#src/inventory/runs/list-runs.ts')
    const of = async (filter: object) =>
      (await listRuns(cli.ferry.pool, 20, filter)).map(({ run }) => `${run}`)
    expect(await of({})).toEqual(['2', '1'])
    expect(await of({ account: 'other' })).toEqual([])
    expect(await of({ resource: 'alert-rules' })).toEqual(['1'])
    expect(await of({ status: 'failed' })).toEqual([])
    expect(await of({ since: new Date(Date.now() - 3_600_000) })).toEqual(['2'])
    const args = '--account default --inventory mcp-servers --status succeeded --since 24h --json'
    expect(jsonLines(await cli.ferryRun(`runs list ${args}`)).map(({ run }) => run)).toEqual(['2'])
    const ofRules = await cli.ferryRun('runs list --inventory alert-rules --json')
    expect(jsonLines(ofRules).map(({ run }) => run)).toEqual(['1'])
    const none = await cli.ferryRun('runs list --status held')
    expect(none.stdout).toBe('No run matches.\n')
    expect((await cli.ferryRun('imports list --status paused --since 7d --account default')).stdout).toBe(
      'No import matches.\n',
    )
  })

  test.for(['imports list', 'runs list', 'rules list', 'servers list', 'changes'])(
    '%s refuses an account that is neither configured nor known, and names those there are',
    async command => {
      await using cli = await openCli()
      expect((await syncAs(cli, 'old')).code).toBe(0)
      expect(await cli.ferryRun(`${command} --account nope`)).toEqual({
        code: 2,
        signal: null,
        stdout: '',
        stderr: 'ferry: "nope" is not an account; known: default, old\n',
      })
      expect((await cli.ferryRun(`${command} --account old`)).code).toBe(0)
      const unconfigured = { FERRY_BASE_URL: '', FERRY_APP_KEY: '' }
      expect(await cli.ferryRun(`${command} --account nope`, unconfigured)).toMatchObject({
        code: 2,
        stderr: 'ferry: "nope" is not an account; known: old\n',
      })
    },
  )

  test('list says what to do if there is none', async () => {
    await using cli = await openCli()
    expect(await cli.ferryRun('runs list')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('ferry sync all'),
    })
    expect(await cli.ferryRun('runs list --json')).toMatchObject({ code: 0, stdout: '' })
  })

  test('show prints everything of one run: calls, quarantined rows, fields outside the contract', async () => {
    await using cli = await openCli({ rules: 1 })
    cli.sandbox.breakContract()
    cli.sandbox.state.addRule({ id: 18446744073709551615n, name: 7 as never, surprise: 'a secret' })
    cli.sandbox.state.addRule({ surprise: 'a secret' })
    await cli.sync()
    const people = await cli.ferryRun('runs show 1')
    expect(people.code).toBe(0)
    expect(people.stdout).toMatch(/^ +1 +18446744073709551615 +name/m)
    expect(people.stdout).toMatch(/^surprise +string$/m)
    expect(people.stdout).toMatch(/^list-alert-rules +2\d{3}-\d\d-\d\d \d\d:\d\d:\d\dZ +\d+ ms +200 /m)
    const [run] = jsonLines(await cli.ferryRun('runs show 1 --json'))
    expect(run).toMatchObject({
      run: '1',
      quarantined: 1,
      quarantinedRows: [{ position: 1, id: '18446744073709551615', reason: expect.stringContaining('name') }],
      drift: [{ field: 'surprise', type: 'string' }],
      calls: [{ operation: 'list-alert-rules', httpStatus: 200, requestId: expect.any(String) }],
    })
    expect(JSON.stringify(run) + people.stdout).not.toContain('a secret')
    await cli.query('delete from ferry.quarantined_rows')
    expect((await cli.ferryRun('runs show 1')).stdout).toContain('They are no longer stored')
  })

  test('show lists the removals a run holds', async () => {
    await using cli = await openCli({ rules: 12 })
    await cli.sync()
    const ids = cli.sandbox.state.rules.ids()
    const held = cli.sandbox.state.rules.get(ids[0]!)
    for (const id of ids) cli.sandbox.state.removeRule(id)
    await cli.sync()
    const { stdout } = await cli.ferryRun('runs show 2')
    expect(stdout).toContain(
      'Removals held: 12. `ferry runs approve 2` removes them, `ferry runs reject 2` keeps',
    )
    const { name, folder_id } = held
    const [run] = jsonLines(await cli.ferryRun('runs show 2 --json'))
    expect(new Set(run?.heldIds as string[])).toEqual(new Set(ids.map(String)))
    expect(stdout).toMatch(new RegExp(`^${held.id} +${RegExp.escape(name)}`, 'm'))
    expect(run?.held).toContainEqual({
      id: `${held.id}`,
      name,
      folder: `${folder_id}`,
      by: held.updater_name,
    })
  })

  test('of a hold that grew, approve removes what its run held; show tells which rows came later', async () => {
    await using cli = await openCli({ rules: 13 })
    await cli.sync()
    const [last, ...others] = cli.sandbox.state.rules.ids()
    for (const id of others) cli.sandbox.state.removeRule(id)
    await cli.sync()
    cli.sandbox.state.removeRule(last!)
    await cli.sync()
    const { stdout } = await cli.ferryRun('runs show 2')
    expect(stdout).toContain('12 of 13 rows are gone from the listing')
    expect(stdout).toContain(
      'Removals held: 13 now, as run 3 found them. `ferry runs approve 3` removes them,',
    )
    expect(stdout).toContain(
      'Run 2 did not hold 1 of them. `ferry runs approve 2` and `reject 2` are about the 12 others.',
    )
    expect(stdout).toMatch(new RegExp(`updated by +held\\n${last} .* after run 2\\n\\d+ .*[^2]\\n`))
    expect(jsonLines(await cli.ferryRun('runs show 2 --json'))).toMatchObject([
      { heldLater: [`${last}`], heldByRun: '3' },
    ])
    expect((await cli.ferryRun('runs show 3')).stdout).toContain('Removals held: 13. `ferry runs approve 3`')
    expect(await cli.ferryRun('runs approve 2')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(
        '1 row that only later runs hold stays held: `ferry runs show 3` shows them.',
      ),
    })
    expect(await cli.query('select id::text from ferry.alert_rules')).toEqual([{ id: `${last}` }])
    expect(jsonLines(await cli.ferryRun('audit --json'))).toContainEqual(
      expect.objectContaining({ action: 'approve', rows: 12, ofRows: 13 }),
    )
    expect((await cli.ferryRun('runs approve 3')).code).toBe(0)
    expect(await cli.query('select from ferry.alert_rules')).toEqual([])
  })

  test('of a hold that grew, reject keeps what its run held, and says what stays held', async () => {
    await using cli = await openCli({ rules: 13 })
    await cli.sync()
    const [last, ...before] = cli.sandbox.state.rules.ids()
    for (const id of before) cli.sandbox.state.removeRule(id)
    await cli.sync()
    cli.sandbox.state.removeRule(last!)
    await cli.sync()
    const { code, stdout } = await cli.ferryRun('runs reject 2')
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^12 rows of run 2 stay/) })
    expect(stdout).toContain('1 row that only later runs hold stays held: `ferry runs show 3` shows them.')
    const [run] = jsonLines(await cli.ferryRun('runs show 3 --json'))
    expect(run).toMatchObject({ heldIds: [`${last}`] })
    expect(jsonLines(await cli.ferryRun('audit --json'))).toContainEqual(
      expect.objectContaining({ action: 'reject', rows: 12, ofRows: 13 }),
    )
    await cli.sync()
    expect((await cli.ferryRun('runs show 4')).stdout).toContain(
      '1 more of 13 rows is gone from the listing; 12 others were kept by a decision on run 2',
    )
  })

  test.skipIf(!canOpenTerminal)(
    'a terminal of 80 columns holds list and show, and every request_id whole',
    async () => {
      await using cli = await openCli({ rules: 3 })
      await cli.sync()
      cli.sandbox.state.inject({ kind: 'error', code: 'BalanceNotEnough' }, { nth: 1 })
      await cli.sync()
      const list = linesOf(await inTerminal(['runs', 'list'], cli.env))
      expect(list[0]).toMatch(/^run +account +inventory +status +started +seen +removed$/)
      expect(list.join('\n')).toMatch(/^ +1 +default +alert-rules +succeeded +\S+ \S+Z +3 +0$/m)
      const show = linesOf(await inTerminal(['runs', 'show', '2'], cli.env))
      expect(show).toContainEqual(expect.stringMatching(/^status +failed$/))
      // The message is a sentence, which the terminal wraps.
      const tables = [...list, ...show].filter(line => !line.startsWith('The platform answered'))
      for (const line of tables) expect(line.length, line).toBeLessThanOrEqual(80)
      const [run] = jsonLines(await cli.ferryRun('runs show 2 --json'))
      const [call] = run!.calls as { requestId: string }[]
      expect(call!.requestId.length).toBeGreaterThanOrEqual(32)
      expect(show.join('\n')).toContain(call!.requestId)
      const wide = linesOf(await inTerminal(['runs', 'list'], cli.env, { columns: 220 }))
      expect(wide[0]).toContain('quarantined')
    },
  )

  test('reject ends a hold as wrong; the next run keeps its rows', async () => {
    await using cli = await openCli({ rules: 12 })
    await cli.sync()
    for (const id of cli.sandbox.state.rules.ids()) cli.sandbox.state.removeRule(id)
    await cli.sync()
    expect(jsonLines(await cli.ferryRun('runs reject 2 --json'))).toEqual([
      { run: '2', outcome: 'rejected', kept: 12 },
    ])
    const again = await cli.ferryRun('runs reject 2')
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('run 2 holds no removals') })
    expect(await cli.ferryRun('sync alert-rules')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('their removal was rejected'),
    })
    expect(await cli.query('select from ferry.alert_rules')).toHaveLength(12)
  })

  test.each(['show', 'approve', 'reject'])('%s of a run that does not exist exits 2', async verb => {
    await using cli = await openCli()
    const { code, stderr } = await cli.ferryRun(`runs ${verb} 99`)
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'ferry: there is no run 99; `ferry runs list` shows them\n',
    })
  })
})

describe('ferry snapshots', () => {
  test('take, list and diff tell what changed between two instants', async () => {
    await using cli = await openCli({ rules: 3, servers: 2 })
    const taken = await cli.ferryRun('snapshots take --json')
    expect(taken.code).toBe(0)
    expect(jsonLines(taken)).toEqual([
      {
        snapshot: '1',
        account: 'default',
        takenAt: expect.stringMatching(/Z$/),
        status: 'succeeded',
        runs: expect.arrayContaining(['1', '2']),
      },
    ])
    const [changed, removed] = cli.sandbox.state.rules.ids()
    cli.sandbox.state.changeRule(changed!, { enabled: !cli.sandbox.state.rules.get(changed!).enabled })
    cli.sandbox.state.removeRule(removed!)
    const server = cli.sandbox.state.addServer()
    expect((await cli.ferryRun('snapshots take')).code).toBe(0)

    expect(jsonLines(await cli.ferryRun('snapshots list --json'))).toMatchObject([
      { snapshot: '2', status: 'succeeded', runs: expect.arrayContaining(['3', '4']) },
      { snapshot: '1' },
    ])
    const differences = jsonLines(await cli.ferryRun('snapshots diff 1 2 --json'))
    expect(differences).toMatchObject([
      { resource: 'alert-rules', change: 'changed', id: `${changed}`, fields: ['enabled'] },
      { resource: 'alert-rules', change: 'removed', id: `${removed}`, fields: [] },
      { resource: 'mcp-servers', change: 'added', id: server.server_id, fields: [] },
    ])
    const { stdout } = await cli.ferryRun('snapshots diff 1 2')
    expect(stdout).toContain('3 differences.')
  })

  test('take exits as its graver run does, and leaves no snapshot of a run that failed', async () => {
    await using cli = await openCli()
    cli.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' }, { operation: 'list-alert-rules' })
    const ended = await cli.ferryRun('snapshots take --json')
    expect(ended.code).toBe(4)
    expect(jsonLines(ended)).toMatchObject([{ snapshot: null, takenAt: null, status: 'failed' }])
    expect((await cli.ferryRun('snapshots list --json')).stdout).toBe('')
  })

  test('diff of a snapshot that does not exist exits 2', async () => {
    await using cli = await openCli()
    expect(await cli.ferryRun('snapshots diff 1 2')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('snapshot 1 does not exist'),
    })
  })
})
