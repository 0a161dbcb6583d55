import type { Command } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProgram } from '#src/cli/program.ts'
import { openSideBySide, type SideBySide } from '#test/support/beside-others.ts'
import { fillRichAccount } from '#test/support/rich-account.ts'
import { type Cli, openCli } from './open-cli.ts'

/* Whoever asks a command for an account, or for something of it, is told the same whatever another account has. */

let clis: SideBySide<Cli>
beforeAll(async () => {
  clis = await openSideBySide(() => openCli({ rules: 90, servers: 12 }), fillRichAccount)
})
afterAll(() => clis[Symbol.asyncDispose]())

/** What a command is asked for besides the account; those that are not here are asked for nothing. */
const ASKED: Readonly<Record<string, readonly string[]>> = {
  'rules list': ['', '--firing', '--as-of {earlier}'],
  'rules show': ['{rule}', '{rule} --as-of {earlier}'],
  'servers list': ['', '--as-of {earlier}'],
  'servers show': ['{server}'],
  changes: ['--all --since 7d', '--since 20h'],
  at: ['{earlier} --around 20h', '{now} --around 20h'],
  report: ['nights', 'blind_spots', 'limit_use', 'rules_by_team --night {night}'],
  'runs list': ['', '--status failed'],
}

/** Commands that are about something of the account, whose id says so. */
const OF_A_THING = [
  ...['runs show {failed}', 'runs show {held}', 'imports show {running}', 'imports show {completed}'],
  ...['imports recipients {undecided}', 'snapshots diff {from} {to}'],
]

/** They take an account, and act. */
const ACTING = [
  'sync',
  'snapshots take',
  'import',
  'schedules run',
  'schedules pause',
  'schedules resume',
  'freshness',
]

const VALUES: Readonly<Record<string, string>> = {
  rule: `(select min(id) from ferry.alert_rules where account = 'default')`,
  server: `(select min(server_id) from ferry.mcp_servers where account = 'default')`,
  failed: `(select max(id) from ferry.sync_runs where account = 'default' and status = 'failed')`,
  held: `(select max(last_run) from ferry.removal_holds where account = 'default')`,
  running: `(select max(id) from ferry.imports where account = 'default' and status = 'running')`,
  completed: `(select max(id) from ferry.imports where account = 'default' and status = 'completed')`,
  undecided: `(select max(id) from ferry.imports where account = 'default' and status = 'undecided')`,
  from: `(select min(id) from ferry.snapshots where account = 'default')`,
  to: `(select max(id) from ferry.snapshots where account = 'default' and slot is not null)`,
  night: `(select max(night) from ferry.nights() where account = 'default' and snapshot is not null)`,
  earlier: `to_char(now() - interval '30 hours', 'YYYY-MM-DD"T"HH24:MI"Z"')`,
  now: `to_char(now(), 'YYYY-MM-DD"T"HH24:MI"Z"')`,
}

test('each command says the same of an account when others have the same rules, servers and pages', async () => {
  const paths = pathsOf(await createProgram([])).filter(path => !ACTING.includes(path))
  expect(paths).toEqual(expect.arrayContaining(Object.keys(ASKED)))
  const commands = [
    ...paths.flatMap(path => (ASKED[path] ?? ['']).map(asked => `${path} ${asked} --account default`)),
    ...OF_A_THING,
  ]
  const different: Record<string, unknown> = {}
  for (const command of await Promise.all(commands.map(filledIn))) {
    for (const asked of [command, `${command} --json`]) {
      const difference = await differenceOf(asked)
      if (difference) different[asked] = difference
    }
  }
  expect(different).toEqual({})
})

/** The commands that take an account. */
function pathsOf(command: Command, above: readonly string[] = []): string[] {
  return command.commands.flatMap(each => {
    const words = [...above, each.name()]
    const takesAccount = each.options.some(({ long }) => long === '--account')
    return [...(takesAccount ? [words.join(' ')] : []), ...pathsOf(each, words)]
  })
}

async function filledIn(command: string): Promise<string> {
  let filled = command.replaceAll(/ +/g, ' ')
  for (const [name, value] of Object.entries(VALUES)) {
    if (!filled.includes(`{${name}}`)) continue
    const [row] = await clis.alone.query<{ value: string }>(`select (${value})::text as value`)
    filled = filled.replaceAll(`{${name}}`, row?.value ?? '')
  }
  return filled
}

/** What differs; null if nothing does. Between two answers a minute may have passed: then it is asked again. */
async function differenceOf(command: string): Promise<object | null> {
  let found: object | null = null
  for (let times = 0; times < 3; times++) {
    const [alone, beside] = [await said(clis.alone, command), await said(clis.beside, command)]
    if (/^[12]/.test(alone)) return { failed: alone }
    if (alone === beside) return null
    const at = [...alone].findIndex((character, n) => character !== beside[n])
    found = {
      alone: alone.slice(Math.max(0, at - 100), at + 100),
      beside: beside.slice(Math.max(0, at - 100), at + 100),
    }
  }
  return found
}

async function said({ ferryRun }: Cli, command: string): Promise<string> {
  const { code, stdout, stderr } = await ferryRun(command)
  return steady(`${code}\n${stdout}${stderr}`)
}

/** Durations that grow, without their last three digits. */
function steady(text: string): string {
  return text.replaceAll(
    /("\w+Ms":|"age":|"lasted":)(\d+)(\.\d+)?/g,
    (_, name, ms) => `${name}${Math.floor(ms / 1_000)}`,
  )
}
