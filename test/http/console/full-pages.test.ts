import { expect, test } from 'vitest'
import { putEqualBatches } from '#test/support/batches.ts'
import { addRun } from '#test/support/runs.ts'
import { stageRows } from '#test/support/staged.ts'
import { insertFiring, insertRuleVersion } from '#test/support/versions.ts'
import { type ConsoleHarness, openConsoleHarness } from './console-harness.ts'
import { hrefsOf } from './page-text.ts'

/*
 * Lists whose last page is full: nothing comes after it. With one row more, that row comes.
 */

const HOUR = 3_600_000
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR)

/** Where a list is, how to add its rows number `n`, and the links that tell one row from another. */
type List = {
  readonly at: string
  readonly add: (harness: ConsoleHarness, n: number) => Promise<unknown>
  readonly links: string
  /** Rows of a page; 50 unless told otherwise. */
  readonly page?: number
}

const sql = (text: string) => (harness: ConsoleHarness, n: number) => harness.query(text, [n])

const SERVERS = `
  insert into ferry.mcp_server_versions (account, server_id, valid_from, valid_to, opened_by_run, server_name, tools, team_id,
    status, auth_mode, fingerprint)
  select 'a', $1::int::text, v.at, v.until, 1, 'S', jsonb_build_array(jsonb_build_object('name', 't', 'description', v.at::text)), $1,
    'enabled', 'shared', gen_random_uuid()
  from (values (now() - interval '2 h', now() - interval '1 h'), (now() - interval '1 h', null)) v (at, until)`

const addServer = sql(SERVERS)
const addRule: List['add'] = ({ ferry }, n) =>
  insertRuleVersion(ferry.pool, { id: `${n}`, name: 'r', from: hoursAgo(1) })

const LISTS: Readonly<Record<string, List>> = {
  runs: {
    at: '/ledger',
    links: '/ledger/runs/',
    add: sql(
      `insert into ferry.sync_runs (account, resource, trigger, scope, guard, fingerprint_version, status, started_at, finished_at)
       select 'a', 'alert-rules', 'manual', '{}', '10,20%', 1, 'failed', now(), now() where $1::int > 0`,
    ),
  },
  calls: {
    at: '/ledger/calls',
    links: '/ledger/runs/',
    add: sql(
      `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, run_id)
       values ('k', 'a', 'list-alert-rules', now(), now(), $1)`,
    ),
  },
  acts: {
    at: '/ledger/audit',
    links: '/imports/',
    add: sql(
      `insert into ferry.audit (account, actor, action, subject_kind, subject_id) values ('a', 'x', 'pause', 'import', $1::int::text)`,
    ),
  },
  events: {
    at: '/ledger/events',
    links: '/imports/',
    add: sql(
      `insert into ferry.events (kind, state, account, subject, data, is_open, at)
       values ('import.paused', 'raised', 'a', $1::int::text, jsonb_build_object('import', $1::int::text, 'code', 'X'), true, clock_timestamp())`,
    ),
  },
  snapshots: {
    at: '/ledger/snapshots',
    links: '/ledger/runs/',
    add: sql(
      `insert into ferry.snapshots (account, taken_at, status, alert_rules_run, mcp_servers_run)
       values ('a', now() + $1::int * interval '1 s', 'succeeded', $1, $1)`,
    ),
  },
  imports: {
    at: '/imports',
    links: '/imports/',
    add: sql(
      `insert into ferry.imports (account, page_id, method, status, file, columns, options, on_uncertain, update_existing,
         batch_rows, staged_at, finished_at, read, recipients, last_line)
       select 'a', 1, 'email', 'cancelled', 'f', '{email}', '{}', 'hold', false, 1, now(), now(), 0, 0, 1 where $1::int > 0`,
    ),
  },
  holds: {
    at: '/ledger/holds',
    links: '/ledger/holds/',
    add: sql(
      `insert into ferry.removal_holds (account, resource, opened_by_run, last_run, ids, since_runs, ended_at, outcome)
       values ('a', 'alert-rules', $1::bigint, $1, '{1}', array[$1::bigint], now(), 'voided')`,
    ),
  },
  rules: { at: '/rules', links: '/rules/a/', add: addRule },
  'rules that never fired': { at: '/firing/never', links: '/rules/a/', add: addRule },
  people: {
    at: '/changes/editors',
    links: '/changes?by=',
    async add({ ferry }, n) {
      const [rule, at] = [{ id: `${n}`, name: 'r', by: 'e'.repeat(n) }, hoursAgo(2)]
      await insertRuleVersion(ferry.pool, { ...rule, from: hoursAgo(3), to: at })
      await insertRuleVersion(ferry.pool, { ...rule, folder: 2, from: at })
    },
  },
  servers: { at: '/servers', links: '/servers/', add: addServer },
  tools: { at: '/mcp/tools', links: '/servers/', add: addServer },
  teams: { at: '/mcp/teams', links: '/servers?', add: addServer },
  risks: { at: '/mcp/risks?reason=shared+credentials', links: '/servers/', add: addServer },
  'changes of tools': { at: '/mcp/changes', links: '/servers/', add: addServer, page: 20 },
  changes: {
    at: '/changes?resource=alert-rules',
    links: '/rules/a/',
    add: addRule,
  },
  'changes of one kind': {
    at: '/changes?kind=added&resource=alert-rules',
    links: '/rules/a/',
    add: addRule,
  },
  differences: {
    at: `/changes/compare?from=${hoursAgo(2).toISOString()}&to=${new Date().toISOString()}`,
    links: '/rules/a/',
    add: addRule,
  },
  'silenced rules': {
    at: '/firing/silenced',
    links: '/rules/a/',
    async add({ ferry }, n) {
      const rule = { id: `${n}`, name: 'r' }
      await insertRuleVersion(ferry.pool, { ...rule, from: hoursAgo(9), to: hoursAgo(3) })
      await insertRuleVersion(ferry.pool, { ...rule, enabled: false, from: hoursAgo(3) })
      await insertFiring(ferry.pool, { ...rule, from: hoursAgo(4), to: hoursAgo(2) })
    },
  },
}

/** Silenced rules and edits are changes too; the rows of any other list are in no other one. */
const APART = ['silenced rules', 'people']

test.for([Object.keys(LISTS).filter(name => !APART.includes(name)), ...APART.map(name => [name])])(
  '%s: a page that is just full is the last one',
  async names => {
    await using harness = await openConsoleHarness()
    const added = new Map<List['add'], number>()
    const fill = async (add: List['add'], rows: number) => {
      for (let n = (added.get(add) ?? 0) + 1; n <= rows; n++) await add(harness, n)
      added.set(add, rows)
    }
    // Those with the fewest rows first: lists of the same rows are filled further.
    const lists = names.map(name => LISTS[name]!).toSorted((a, b) => (a.page ?? 50) - (b.page ?? 50))
    for (const { at, add, links, page = 50 } of lists) {
      await fill(add, page)
      const [full = ''] = await pagesOf(harness, at, 1)
      expect(rowsOf(full, links), at).toBe(page)
    }
    for (const { at, add, links } of lists.filter(({ page }) => page === undefined)) {
      await fill(add, 51)
      const [first = '', second = ''] = await pagesOf(harness, at, 2)
      expect([rowsOf(first, links), rowsOf(second, links)], at).toEqual([50, 1])
    }
  },
)

test('the batches of an import: a page that is just full is the last one', async () => {
  await using harness = await openConsoleHarness()
  const id = await stageRows(harness.ferry.pool, { rows: 21, batchRows: 1 })
  const rows = (text: string) => text.match(/data-head="Lines"/g)?.length
  await putEqualBatches(harness.ferry.pool, id, { batches: 20, rows: 1 })
  expect((await pagesOf(harness, `/imports/${id}`, 1)).map(rows)).toEqual([20])
  await putEqualBatches(harness.ferry.pool, id, { batches: 1, rows: 1 })
  expect((await pagesOf(harness, `/imports/${id}`, 2)).map(rows)).toEqual([20, 1])
})

test('the rows of a hold: a page that is just full is the last one', async () => {
  await using harness = await openConsoleHarness()
  const run = await addRun(harness.ferry.pool, { account: 'a', end: { status: 'held' } })
  await harness.query(
    `insert into ferry.removal_holds (account, resource, opened_by_run, last_run, ids, since_runs)
     select 'a', 'alert-rules', $1, $1, array_agg(n::text), array_agg($1::bigint) from generate_series(1, 50) n`,
    [run],
  )
  const path = `/ledger/holds/${run}`
  const rows = (text: string) => rowsOf(text, '/rules/a/')
  expect((await pagesOf(harness, path, 1)).map(rows)).toEqual([50])
  await harness.query(`update ferry.removal_holds set ids = ids || '{51}'`)
  expect((await pagesOf(harness, path, 2)).map(rows)).toEqual([50, 1])
})

/** The texts of all pages of a list; there must be so many. */
async function pagesOf(harness: ConsoleHarness, first: string, count: number): Promise<string[]> {
  const pages: string[] = []
  for (let path: string | undefined = first; path; ) {
    const { status, text }: { status: number; text: string } = await harness.page(path)
    expect(status).toBe(200)
    expect(pages.push(text)).toBeLessThanOrEqual(count)
    path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  expect(pages).toHaveLength(count)
  return pages
}

/** How many rows there are, by what they lead to. */
function rowsOf(page: string, links: string): number {
  return new Set(hrefsOf(page, links).filter(href => !href.includes('after='))).size
}
