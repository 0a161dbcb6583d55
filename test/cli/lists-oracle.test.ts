import stringWidth from 'string-width'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { duration } from '#src/model/duration.ts'
import { filledIn, rowsOf } from '#test/http/console/oracle/compare.ts'
import { fillMore } from '#test/http/console/oracle/fill.ts'
import { CHANGES, RULES, SERVERS } from '#test/http/console/oracle/inventory-lists.ts'
import { ACTS, EVENTS, IMPORTS, RUNS, SCHEDULES, SNAPSHOTS } from '#test/http/console/oracle/ledger-lists.ts'
import { type Asked, differencesInWords, type Listed, type Row } from '#test/http/console/oracle/listed.ts'
import { betweenSql } from '#test/http/console/oracle/moment-pages.ts'
import { fillWorkingDays } from '#test/support/working-days.ts'
import { type Cli, openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

/*
 * Every list of the command line over some working days: its table and its JSON, value by value, are what SQL queries of their own
 * say, and each option leaves the rows that its condition says. The queries are those of the console's lists.
 */

let cli: Cli
beforeAll(async () => {
  cli = await openCli({ rules: 60, servers: 12 }, { FERRY_WEBHOOK_URL: 'http://127.0.0.1:1/' })
  await fillWorkingDays(cli)
  await fillMore(cli)
})
afterAll(() => cli[Symbol.asyncDispose]())

/** A command, its rows as a table shows them, and its options with their conditions. */
type Command = Asked &
  Pick<Listed, 'more'> & {
    /** The columns that are of text, though they look like numbers. */
    readonly texts?: string
    /** The rows as JSON has them. */
    readonly json: string
    readonly options?: Readonly<Record<string, string>>
    /** Rows that a table shows, unless there are fewer. */
    readonly limit?: number
  }

const DIFFERENCES =
  `select * from (${betweenSql('alert-rules')} union all ${betweenSql('mcp-servers')}) c order by inventory, change, name, id`
    .replaceAll('{from}', '1')
    .replaceAll('{to}', '3')

const COMMANDS: readonly Command[] = [
  {
    ...RUNS,
    at: 'runs list',
    shows: RUNS.csv ?? '',
    limit: 20,
    json: `select id as run, account, resource, trigger, slot, scope, status, requests, pages, seen, added, changed, removed, unchanged, quarantined,
      fired, recovered, message, started_at as "startedAt", finished_at as "finishedAt", error_code as "errorCode", request_id as "requestId"
      from ferry.sync_runs order by id desc limit 20`,
    options: {
      '--account branch': `account = 'branch'`,
      '--inventory mcp-servers': `inventory = 'mcp-servers'`,
      '--status held': `status = 'held'`,
      '--since 20h': `started >= now() - interval '20 hours'`,
    },
  },
  {
    ...RULES,
    at: 'rules list',
    sql: `select * from (${RULES.sql}) r order by name, account, id`,
    shows: 'id, name, folder, enabled, firing, updated by, account',
    json: `select * from ferry.alert_rules order by name, account, id`,
    options: {
      '--account branch': `account = 'branch'`,
      '--folder {folder}': 'folder = {folder}',
      '--match CHECKOUT': `strpos(lower(name || labels::text), 'checkout') > 0`,
      '--name api': `strpos(lower(name), 'api') > 0`,
      '--label severity=critical': `labels ->> 'severity' = 'critical'`,
      '--firing': 'firing',
      '--enabled': 'enabled',
      '--disabled': 'not enabled',
    },
  },
  {
    ...SERVERS,
    at: 'servers list',
    sql: `select * from (${SERVERS.sql}) r order by name, account, id`,
    shows: 'id, name, team, status, transport, tools, account',
    texts: 'id, team',
    json: `select * from ferry.mcp_servers order by server_name, account, server_id`,
    options: {
      '--account branch': `account = 'branch'`,
      '--team 0': 'team = 0',
      '--match DASHBOARDS': `strpos(lower(concat_ws(' ', name, description, url)), 'dashboards') > 0`,
      '--name ka': `strpos(lower(name), 'ka') > 0`,
      '--disabled': `status <> 'enabled'`,
    },
  },
  {
    ...IMPORTS,
    at: 'imports list',
    shows: IMPORTS.csv ?? '',
    json: `select import, account, page, status, read, sent, rejected, duplicate, suppressed, "already imported" as "alreadyImported", uncertain, pending,
      batches, calls as requests, took as "durationMs", file, created as "createdAt", finished_at as "finishedAt", null as "purgedAt"
      from (${IMPORTS.sql}) i`,
    options: {
      '--account branch': `account = 'branch'`,
      '--status paused': `status = 'paused'`,
      '--since 1d': `created >= now() - interval '1 day'`,
    },
  },
  {
    ...ACTS,
    at: 'audit',
    shows: ACTS.csv ?? '',
    json: `select id as act, at, account, actor, action, subject_kind as "subjectKind", subject_id as subject, because, rows, of_rows as "ofRows"
      from ferry.audit order by id desc`,
    options: {
      '--account branch': `account = 'branch'`,
      '--as OPS': `strpos(lower(who), 'ops') > 0`,
      '--action confirm': `did = 'confirm'`,
      '--since 1d': `"when" >= now() - interval '1 day'`,
    },
  },
  {
    ...SNAPSHOTS,
    at: 'snapshots list',
    shows: SNAPSHOTS.csv ?? '',
    json: `select id as snapshot, account, taken_at as "takenAt", status, slot, array[alert_rules_run::text, mcp_servers_run::text] as runs
      from ferry.snapshots order by id desc`,
  },
  {
    ...EVENTS,
    at: 'notify list',
    shows: EVENTS.csv ?? '',
    texts: 'event, about',
    limit: 50,
    json: `select event, kind, state, account, about as subject, at, coalesce(messages, '[]') as deliveries,
      (select s from unnest('{dead,waiting,delivered,not sent}'::text[]) with ordinality o (s, n) where s = any (states) order by n limit 1) as delivery
      from (${EVENTS.sql}) e`,
    options: { '--undelivered': `states && '{waiting,dead}'` },
  },
  {
    ...CHANGES,
    at: 'changes --all --since 7d',
    sql: `select * from (${CHANGES.sql}) c order by "when" desc, inventory, account, title, id`,
    shows: 'change, name, what, by, when, account',
    json: `select inventory as resource, account, title as name, change, run, rows, id, by, "when" as at, before, after
      from (${CHANGES.sql}) c order by "when" desc, inventory, account, title, id`,
    options: { '--account branch': `account = 'branch'`, '--by noor': `strpos(lower(by), 'noor') > 0` },
  },
  {
    at: 'snapshots diff {from} {to}',
    sql: DIFFERENCES,
    shows: 'inventory, change, id, name, folder, what, by',
    texts: 'id, folder',
    // A server has a team.
    more: ({ inventory, folder, before, after }) => ({
      folder: inventory === 'alert-rules' ? folder : null,
      what: differencesInWords(before, after),
    }),
    json: `select inventory as resource, change, id, name, folder, by, before, after, first_reading as "firstReading",
      array(select * from jsonb_object_keys(before) order by 1) as fields from (${DIFFERENCES}) c`,
  },
]

describe.each(COMMANDS)('ferry $at', declared => {
  test('prints a table of the rows in order', async () => {
    const command = await filledIn(cli, declared)
    const rows = await rowsOf(cli, command)
    const { stdout } = await cli.ferryRun(command.at)
    expect(stdout.replace(/\n(\n\d+ differences\.\n)?$/, '')).toBe(tableOf(command, rows))
  })

  test('prints each row as JSON', async () => {
    const command = await filledIn(cli, { at: `${declared.at} --json`, sql: declared.json })
    const { stdout } = await cli.ferryRun(command.at)
    const found = jsonLines({ stdout })
    const rows = await cli.query<Row>(command.sql)
    expect(found).toEqual(rows.map((row, n) => jsonOf(row, found[n])))
  })

  test.each(Object.entries(declared.options ?? {}))(
    '%s: the rows that match, neither all nor none',
    async (option, condition) => {
      const command = await filledIn(cli, { ...declared, at: `${declared.at} ${option}` })
      const matching = await rowsOf(cli, command, {
        condition: (await filledIn(cli, { ...declared, sql: condition })).sql,
      })
      expect(matching.length).toBeGreaterThan(0)
      expect(matching.length).toBeLessThan((await rowsOf(cli, command)).length)
      const { stdout } = await cli.ferryRun(command.at)
      expect(stdout.trimEnd()).toBe(tableOf(command, matching))
    },
  )
})

test('ferry schedules list prints each schedule', async () => {
  const found = jsonLines(await cli.ferryRun('schedules list --json'))
  const rows = await cli.query<Row>(SCHEDULES.sql)
  const wanted = rows.map(({ schedule: name, account, every, cron, paused, last, outcome }) => ({
    ...{ name, account, everyMs: every?.ms ?? null, cron, timezone: cron && 'UTC', paused },
    ...{
      nextAt: paused ? null : expect.any(String),
      lastSlot: last?.toISOString() ?? null,
      lastOutcome: outcome,
    },
  }))
  expect(found).toHaveLength(wanted.length)
  expect(found).toEqual(expect.arrayContaining(wanted))
  const { stdout } = await cli.ferryRun('schedules list')
  expect(stdout).toMatch(/^schedule +account +when +next +last +result\n/)
  for (const { name, everyMs, cron, lastSlot, paused } of wanted) {
    const when = cron ? `${cron} UTC` : `every ${duration(everyMs)}`
    const next = paused ? 'paused ' : '\\d{4}-.*'
    expect(stdout).toMatch(
      new RegExp(
        `^${name} +\\S+ +${RegExp.escape(when)} +${next}.*${lastSlot ? textOf(new Date(lastSlot)) : ''}`,
        'm',
      ),
    )
  }
})

/** Columns two spaces apart, those of numbers to the right. */
function tableOf({ shows, texts = '', limit = Infinity }: Command, rows: readonly Row[]): string {
  const names = shows.split(', ')
  const shown = rows.slice(0, limit)
  const lines = [names, ...shown.map(row => names.map(name => textOf(row[name])))]
  const isRight = names.map(
    name => !texts.split(', ').includes(name) && shown.every(row => /^\d*$/.test(`${row[name] ?? ''}`)),
  )
  const widths = names.map((_, at) => Math.max(...lines.map(line => widthOf(line[at] ?? ''))))
  const padded = (text: string, at: number) => {
    const space = ' '.repeat((widths[at] ?? 0) - widthOf(text))
    return isRight[at] ? space + text : text + space
  }
  return lines.map(line => line.map(padded).join('  ').trimEnd()).join('\n')
}

/** A character of no width has one in a table. */
const widthOf = (text: string) => stringWidth(text.replaceAll('\u200b', '?'))

/** A value as a table has it. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return `${value.toISOString().slice(0, 19).replace('T', ' ')}Z`
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return value.toLocaleString('en-US')
  if (typeof value !== 'object') return `${value}`
  const { ms, growing = 0 } = value as { ms?: number; growing?: number }
  return duration(ms ?? growing)
}

/** A row as JSON has it: ids as text, other integers as numbers. A duration that grows is what was found. */
function jsonOf(row: Row, found: Row = {}): Row {
  const entries = Object.entries(row).map(([name, value]) => {
    if (/^(created_at|updated_at|delay_seconds|tool_count|\w+_timeout)$/.test(name))
      return [name, Number(value)]
    return [name, value?.growing ? found[name] : (value?.ms ?? value)]
  })
  return JSON.parse(JSON.stringify(Object.fromEntries(entries)), (name, value) => {
    if (name.endsWith('_id') && typeof value === 'number') return `${value}`
    return /^\d{4}-.*\+00:00$/.test(value) ? new Date(value).toISOString() : value
  })
}
