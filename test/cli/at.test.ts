import { expect, test } from 'vitest'
import { letTimePass } from '#test/support/let-time-pass.ts'
import { openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

type Printed = { firing: object[]; isCut: boolean; events: { kind: string }[] }

async function openSilenced() {
  const cli = await openCli({ rules: 0, servers: 0 })
  const { state } = cli.sandbox
  const labels = { team: 'payments', service: 'checkout' }
  state.addRule({
    id: 2n ** 64n - 1n,
    name: 'Checkout is slow',
    folder_id: 7n,
    labels,
    enabled: true,
    triggered: false,
  })
  await cli.sync()
  state.changeRule(2n ** 64n - 1n, { triggered: true })
  await cli.sync()
  state.changeRule(2n ** 64n - 1n, { enabled: false, updater_name: 'Eve\u001b[2J' })
  await cli.sync()
  return cli
}

test('prints what was firing and what happened, in order, with what was switched off while it fired', async () => {
  await using cli = await openSilenced()
  const { code, stdout } = await cli.ferryRun('at 1ms')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^rule +for +since +until +team +state$/m)
  expect(stdout).toMatch(/^Checkout is slow .* payments +firing, disabled$/m)
  expect(stdout).toMatch(/began to fire +Checkout is slow$/m)
  expect(stdout).toMatch(
    /switched off while firing +Checkout is slow +enabled: true → false +Eve\ufffd\[2J$/m,
  )
  expect(stdout.indexOf('began to fire')).toBeLessThan(stdout.indexOf('switched off while'))
  const misspelled = await cli.ferryRun('at 1ms --team paymnts')
  expect(misspelled.stderr).toContain('nothing matches "paymnts"; did you mean payments?')
})

test('suggests nothing where a name was right then, though there is another now', async () => {
  await using cli = await openSilenced()
  cli.sandbox.state.changeRule(2n ** 64n - 1n, { labels: { team: 'payment' } })
  await cli.sync()
  const { stdout, stderr } = await cli.ferryRun('at 1ms --team payments')
  expect(stdout).toContain('began to fire')
  expect(stderr).not.toContain('did you mean')
})

test('of a rule first seen firing after the moment it says so, in place of a duration', async () => {
  await using cli = await openCli({ rules: 0, servers: 0 })
  const { state } = cli.sandbox
  state.addRule({ id: 1n, name: 'Checkout is slow', enabled: true, triggered: false })
  await cli.sync()
  await letTimePass(cli.ferry.pool, '1 hour')
  state.changeRule(1n, { triggered: true })
  await cli.sync()
  const { stdout } = await cli.ferryRun('at 30m')
  expect(stdout).toMatch(/^Checkout is slow +\d{4}-\d\d-\d\d .* not known: first seen firing later$/m)
  expect(stdout).not.toContain('0 ms')
  const [{ firing } = { firing: [] }] = jsonLines(await cli.ferryRun('at 30m --json')) as unknown as Printed[]
  expect(firing).toMatchObject([{ known: false, firedForMs: null }])
})

test('prints one object of JSON with exact ids, and narrows it', async () => {
  await using cli = await openSilenced()
  const jsonOf = async (args: string) =>
    jsonLines(await cli.ferryRun(`at 1ms --json ${args}`.trim()))[0] as unknown as Printed
  const all = await jsonOf('')
  expect(all).toMatchObject({
    firing: [{ id: '18446744073709551615', known: true, enabled: false, ended: null }],
    isCut: false,
  })
  expect(all.events.at(-1)).toMatchObject({
    kind: 'rule.disabled',
    id: '18446744073709551615',
    whileFiring: true,
    before: { enabled: true },
    after: { enabled: false },
  })
  const kinds = async (args: string) => (await jsonOf(args)).events.map(({ kind }) => kind)
  expect(await kinds('--match checkout')).toContain('rule.fired')
  for (const other of ['--match nowhere', '--team core', '--folder 8'])
    expect(await kinds(other)).not.toContain('rule.fired')
  // Beside that, what is not known is shown.
  expect((await kinds('--limit 1')).filter(kind => kind !== 'blind')).toHaveLength(1)
  expect(await cli.ferryRun('at 1ms --account other')).toMatchObject({ code: 2 })
  expect(await cli.ferryRun('at yesterday')).toMatchObject({ code: 2 })
})

test('says which minutes are not known, and that an hour before the history starts is not shown', async () => {
  await using cli = await openSilenced()
  expect((await cli.ferryRun('at 3h')).stderr).toContain('nothing is known of 1 stretch of that time')
  await cli.query(`insert into ferry.history (starts_at) values (now() - interval '30 min')`)
  const { code, stderr } = await cli.ferryRun('at 1h')
  expect(code).not.toBe(0)
  expect(stderr).toContain('history starts at')
})
