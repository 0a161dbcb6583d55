import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { DASHBOARDS, QUERIES } from './dashboards.ts'
import { readIntegration } from './files.ts'
import { openFilledDatabase } from './filled-database.ts'
import { expandQuery, type GrafanaContext } from './grafana-macros.ts'

/* Grafana itself is not run: its queries are, on a filled database, by the role that only reads. */

const HOUR_MS = 3_600_000
const CONTEXT: GrafanaContext = {
  from: new Date(Date.now() - HOUR_MS),
  to: new Date(Date.now() + HOUR_MS),
  intervalS: 60,
  variables: { account: ['default', "another's"] },
}

/** The columns of every table and every series. */
const COLUMNS: Readonly<Record<string, string>> = {
  'Ferry: alert rules, Rules firing at once': 'time firing',
  'Ferry: alert rules, Changes': 'time added changed removed',
  'Ferry: alert rules, Alerts that began and ended': 'time began ended',
  'Ferry: alert rules, Firing now': 'account id name folder_id team began firing_for',
  'Ferry: alert rules, Edits': 'observed_at account change id name before after updater_name',
  'Ferry: alert rules, Noisiest rules': 'account id name team episodes hours flaps night_share last_began',
  'Ferry: alert rules, Silenced': 'at account what id name team fields updater_name while_firing',
  'Ferry: alert rules, Time to clear': 'account team episodes p50 p90 longest',
  'Ferry: alert rules, Rules by team': 'account team rules enabled disabled firing folders',
  'Ferry: fleet and freshness, Freshness now':
    'account inventory state age target last_complete_at why_late error_code request_id',
  'Ferry: fleet and freshness, Oldest data': 'time metric age',
  'Ferry: fleet and freshness, Runs by outcome': 'time metric runs',
  'Ferry: fleet and freshness, How long runs take': 'time metric seconds',
  'Ferry: fleet and freshness, Nights':
    'account night status taken_at snapshot alert_rules_run mcp_servers_run',
  'Ferry: fleet and freshness, Runs to look at':
    'id started_at account resource status error_code request_id message',
  'Ferry: imports and limits, Imports':
    'id account page_id status file read sent rejected duplicate suppressed already_imported uncertain pending pause_message pause_what_to_do',
  'Ferry: imports and limits, Rows accepted': 'time metric rows',
  'Ferry: imports and limits, Calls to the platform': 'time metric calls',
  'Ferry: imports and limits, Calls in the fullest minute': 'time metric calls',
  'Ferry: imports and limits, How long the platform takes to answer': 'time metric seconds',
  'Ferry: imports and limits, Why rows were not sent': 'import_id origin reason rows',
  'Ferry: imports and limits, Calls refused':
    'account operation error_code http_status calls first_at last_at request_ids',
}

/** Types that Grafana shows as they are: a number beyond 2^53 in another one would lose its last digits. */
const EXACT = new Set([16, 20, 21, 23, 25, 701, 1184])
const TEXT = 25
const NUMBERS = new Set([20, 23, 701])

test('every query runs as the role that only reads, finds something, and has the columns that its panel shows', async () => {
  await using database = await openFilledDatabase()
  const empty: string[] = []
  for (const { dashboard, kind, title, sql, formatted } of QUERIES) {
    const where = `${dashboard}, ${title}`
    const { fields, rows } = await database.reader.query(expandQuery(sql, CONTEXT))
    const names = fields.map(field => field.name)
    const types = fields.map(field => field.dataTypeID)
    expect(names, where).toEqual(expect.arrayContaining([...formatted]))
    if (rows.length === 0) empty.push(where)
    if (kind === 'stat') expect(types.length === 1 && NUMBERS.has(types[0] ?? 0), where).toBe(true)
    else if (kind === 'variable') expect(types, where).toEqual([TEXT])
    else if (kind === 'annotation') expect(names, where).toEqual(['time', 'text', 'tags'])
    else expect(names.join(' '), where).toBe(COLUMNS[where])
    if (kind === 'table')
      expect(
        types.filter(type => !EXACT.has(type)),
        where,
      ).toEqual([])
    if (kind === 'timeseries') {
      const values = types.slice(names[1] === 'metric' ? 2 : 1)
      expect(
        values.every(type => NUMBERS.has(type)),
        where,
      ).toBe(true)
    }
  }
  expect(empty).toEqual([])
})

test('every query asks for the accounts chosen, of the data source that is provisioned', () => {
  const { datasources } = parse(readIntegration('grafana/provisioning/datasources/ferry.yaml'))
  const [{ type, uid }] = datasources
  expect(QUERIES.length).toBeGreaterThan(30)
  for (const { kind, title, sql, datasource } of QUERIES) {
    expect(datasource, title).toEqual({ type, uid })
    if (kind !== 'variable') expect(sql, title).toContain('account in ($account)')
  }
})

test('queries that Ferry does not know how to expand are found', () => {
  expect(expandQuery('select $__timeGroup(a.at, $__interval) where a in ($account)', CONTEXT)).toBe(
    "select floor(extract(epoch from a.at)/60)*60 where a in ('default','another''s')",
  )
  expect(() => expandQuery('select $__unixEpochFilter(at)', CONTEXT)).toThrow('$__unixEpochFilter')
})

test('each dashboard has its own address, and panels that do not overlap', () => {
  expect(DASHBOARDS.map(({ uid }) => uid).sort()).toEqual([
    'ferry-alert-rules',
    'ferry-fleet',
    'ferry-imports',
  ])
  for (const { title, panels } of DASHBOARDS) {
    expect(new Set(panels.map(panel => panel.id)).size, title).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    )
    expect(new Set(cells).size, title).toBe(cells.length)
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w)), title).toBeLessThanOrEqual(24)
  }
})
