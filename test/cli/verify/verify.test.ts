import { Client } from 'pg'
import { expect, test } from 'vitest'
import { allChecks } from '#src/cli/verify/checks.ts'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { stageRows } from '#test/support/staged.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { openCli } from '../open-cli.ts'
import { jsonLines } from '../run-ferry.ts'

test('ferry verify exits 0 and says what holds, and changes nothing', async () => {
  await using cli = await openCli({ rules: 3 })
  await cli.ferryRun('sync all')
  const { code, stdout, stderr } = await cli.ferryRun('verify')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.match(/^ok /gm)).toHaveLength(allChecks([]).length)
  expect(stdout).toMatch(/^ok +alert-rules intervals +versions of one alert rule do not overlap/m)

  const startedAtMs = performance.now()
  const results = jsonLines(await cli.ferryRun('verify --json'))
  const tookMs = performance.now() - startedAtMs
  expect(results).toEqual(
    allChecks([]).map(({ name, holds }) => ({
      check: name,
      status: 'ok',
      holds,
      broken: 0,
      durationMs: expect.any(Number),
    })),
  )
  // Each is told the time of its own, to a millisecond.
  const sumMs = results.reduce((sum, { durationMs }) => sum + Number(durationMs), 0)
  expect(sumMs).toBeLessThan(tookMs + results.length)
})

test('a row that breaks a promise is named with what to do, exit 1; of many the first, and --json names all', async () => {
  await using cli = await openCli({ rules: 0 })
  const id = await stageRows(cli.ferry.pool, { rows: 25 })
  await cli.query(
    `insert into ferry.import_left_out (import_id, line, kind, reason) select import_id, line, 'suppressed', 'x'
     from ferry.import_recipients`,
  )
  const text = await cli.ferryRun('verify')
  expect(text.code).toBe(1)
  expect(text.stdout).toMatch(
    new RegExp(`^FAIL +import places +.*line 2 of import ${id} is in both\n +Pause the import`, 'm'),
  )
  expect(text.stdout.match(/^FAIL +import places/gm)).toHaveLength(20)
  expect(text.stdout).toMatch(/^ +25 rows in all; --json names every one of them$/m)
  expect(text.stdout).toMatch(/^ok +episodes /m)

  const json = await cli.ferryRun('verify --json')
  expect(json.code).toBe(1)
  const lines = jsonLines(json).filter(({ check }) => check === 'import places')
  expect(lines).toHaveLength(26)
  expect(lines[0]).toEqual({
    check: 'import places',
    status: 'broken',
    found: expect.stringContaining(`line 2 of import ${id}`),
    whatToDo: expect.stringContaining('Pause the import'),
  })
  expect(lines.at(-1)).toMatchObject({ status: 'broken', broken: 25, durationMs: expect.any(Number) })
})

test('runs from before the history begins are not held against versions that are gone', async () => {
  await using cli = await openCli({ rules: 3 })
  await cli.ferryRun('sync all')
  cli.sandbox.state.mutate(2, ['rule-changed'])
  await cli.ferryRun('sync alert-rules')
  await cli.query('delete from ferry.alert_rule_versions where valid_to is not null')
  const { code, stdout } = await cli.ferryRun('verify')
  expect(code).toBe(1)
  expect(stdout).toMatch(/counted 2 versions that ended, but 0 are stored/)
  await cli.query('insert into ferry.history (starts_at) values (clock_timestamp())')
  expect((await cli.ferryRun('verify')).code).toBe(0)
})

test('the windows are those of the account in the settings', async () => {
  await using cli = await openCli({ rules: 1 })
  for (let n = 0; n < 3; n++) await cli.ferryRun('sync alert-rules')
  expect((await cli.ferryRun('verify')).code).toBe(0)
  const { code, stdout } = await cli.ferryRun('verify', { FERRY_LIST_LIMIT: '2/1h' })
  expect(code).toBe(1)
  expect(stdout).toMatch(
    /^FAIL +limits +.*call 3 \(list-alert-rules of account default\), .* was call 3 of 2 in 3600000 ms/m,
  )
})

test('a check that is under way is finished once it is stopped, and no other one begins', async () => {
  await using cli = await openCli({ rules: 1 })
  const blocker = new Client(cli.databaseUrl)
  await blocker.connect()
  try {
    await blocker.query('begin; lock table ferry.alert_rule_versions in access exclusive mode')
    await using verify = cli.ferryStart('verify')
    await waitFor(async () => (await cli.query(WAITING_FOR_LOCK)).length > 0, { what: 'a check to wait' })
    verify.child.kill('SIGINT')
    await blocker.query('rollback')
    const { code, stdout } = await verify.ended
    expect(code).toBe(130)
    expect(stdout.match(/^ok /gm)?.length ?? 0).toBeLessThan(allChecks([]).length)
  } finally {
    await blocker.end()
  }
})
