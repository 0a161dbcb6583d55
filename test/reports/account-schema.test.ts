import type { Client, Pool } from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { REPORTS } from '#src/reports/catalogue.ts'
import { QUERIES } from '#test/integrations/dashboards.ts'
import { expandQuery } from '#test/integrations/grafana-macros.ts'
import {
  callOf,
  functionsIn,
  openTwoReaders,
  ROLE,
  type Routine,
  type TwoReaders,
  type View,
} from './account-reader.ts'
import { isOfOther } from './two-accounts.ts'

/* A reader of one account sees that account, and nothing of another one with rules and servers of the same ids. */

let pool: Pool
let views: readonly View[]
let functions: readonly Routine[]
let connect: TwoReaders['connect']

beforeAll(async () => {
  const opened = await openTwoReaders()
  ;({ pool, views, functions, connect } = opened)
  // Those of the rows of a view have none in schema ferry to be compared with.
  functions = functions.filter(({ name }) => !name.startsWith('rows_of_'))
  return () => opened[Symbol.asyncDispose]()
}, 120_000)

/** What differs from one moment to the next. */
const AGES = ['age', 'firing_for', 'on_for', 'off_for', 'fired_for', 'days_observed', 'hours']

/** The rows of the account in tables that do not name it. */
const OF_IMPORT = `import_id in (select id from ferry.imports where account = 'default')`
const ROWS: Readonly<Record<string, string>> = {
  import_batches: OF_IMPORT,
  import_locales: OF_IMPORT,
  quarantined_rows: `run_id in (select id from ferry.sync_runs where account = 'default')`,
}

/** The rows as texts, in no order, without what differs from one moment to the next. */
async function rowsOf(client: Client, query: string): Promise<string[]> {
  const text = `select (to_jsonb(t) - $1::text[])::text as row from (${query}) t order by 1`
  return (await client.query<{ row: string }>(text, [AGES])).rows.map(({ row }) => row)
}

describe('what readers of one account see', () => {
  test('sees of it what ferry_reader sees of it, and nothing of another account', async () => {
    await using opened = new AsyncDisposableStack()
    const client = await pool.connect()
    opened.defer(async () => client.release(true))
    // In one transaction it is one moment for both.
    await client.query('begin')
    const asks = [
      ...views.map(({ name, columns }) => ({
        from: name,
        of: name,
        columns: columns.join(', '),
        where: ROWS[name],
      })),
      ...functions
        .filter(({ isSet }) => isSet)
        .map(one => ({ from: callOf(one), of: callOf(one, 'default'), columns: '*', where: undefined })),
    ]
    const empty: string[] = []
    for (const { from, of, columns, where = `account = 'default'` } of asks) {
      await client.query(`set local role ${ROLE}`)
      const seen = await rowsOf(client, `select ${columns} from ${ROLE}.${from}`)
      await client.query('set local role ferry_reader')
      expect(seen.filter(isOfOther), from).toEqual([])
      if (seen.length === 0) empty.push(from)
      expect(seen, from).toEqual(await rowsOf(client, `select ${columns} from ferry.${of} where ${where}`))
    }
    expect(empty).toEqual([])
    await client.query(`set local role ${ROLE}`)
    for (const one of functions.filter(({ inputs }) => inputs.includes('of_account'))) {
      expect(await rowsOf(client, `select * from ${ROLE}.${callOf(one, 'umbrella')}`), one.name).toEqual([])
      expect(await rowsOf(client, `select * from ${ROLE}.${callOf(one, 'default')}`), one.name).not.toEqual(
        [],
      )
    }
  })

  test('sees the calls of its account alone in a limit that accounts share', async () => {
    await using opened = new AsyncDisposableStack()
    const client = await connect(opened)
    const sum = async (query: string) =>
      (await client.query(`select sum(calls)::int as calls from (${query}) q`)).rows[0].calls
    const own = await sum(`select count(*) as calls from ${ROLE}.platform_calls`)
    const { rows: shared } = await pool.query(`select distinct account from ferry.limit_use('2020-01-01Z')`)
    expect(shared).toEqual([{ account: 'default, umbrella' }])
    expect(own).toBeGreaterThan(5)
    expect(await sum(`select * from ${ROLE}.limit_use('2020-01-01Z')`)).toBe(own)
  })

  test('asks whether its own account is fresh, and learns nothing of another', async () => {
    await using opened = new AsyncDisposableStack()
    const client = await connect(opened)
    const ask = async (args: string) =>
      (await client.query(`select ${ROLE}.require_fresh(${args}) as fresh`)).rows[0].fresh
    expect(await ask(`'alert-rules', '1 year'`)).toBe(true)
    expect(await ask(`'alert-rules', '1 year', 'default'`)).toBe(true)
    expect(await ask(`'alert-rules', '1 second', 'umbrella'`)).toBe(null)
    await pool.query(`update ferry.sync_runs set started_at = now() - interval '2 years', finished_at = now() - interval '2 years'
      where account = 'umbrella'`)
    expect(await ask(`'alert-rules', '1 year'`)).toBe(true)
    await expect(ask(`'alert-rules', '0 seconds'`)).rejects.toThrow(/account 'default' are too old/)
  })

  test('knows up to when the history of its account is final, whatever another one does', async () => {
    await using opened = new AsyncDisposableStack()
    const client = await connect(opened)
    const settled = async () => (await client.query(`select ${ROLE}.settled_at()::text as at`)).rows[0].at
    const { rows } = await pool.query(
      `select max(applied_at)::text as at from ferry.sync_runs where account = 'default'`,
    )
    expect(await settled()).toBe(rows[0].at)
    const begin = `insert into ferry.sync_runs (account, resource, trigger, scope, guard, fingerprint_version, status, started_at)
      values ($1, 'alert-rules', 'manual', '{}', '', 1, 'running', '2020-01-01Z')`
    await pool.query(begin, ['umbrella'])
    const applied = `update ferry.sync_runs set applied_at = now() + $1 * interval '1 hour'
      where id = (select max(id) from ferry.sync_runs where account = 'umbrella' and applied_at is not null)`
    await pool.query(applied, [1])
    expect(await settled()).toBe(rows[0].at)
    await pool.query(applied, [0])
    await pool.query(begin, ['default'])
    expect(await settled()).toMatch(/^2019-12-31/)
    await pool.query(`delete from ferry.sync_runs where status = 'running'`)
  })

  test('knows when the history begins', async () => {
    await using opened = new AsyncDisposableStack()
    const client = await connect(opened)
    const begins = async () => (await client.query(`select ${ROLE}.history_start()::text as at`)).rows[0].at
    expect(await begins()).toBe('-infinity')
    await pool.query(`insert into ferry.history (starts_at) values ('2020-01-01Z')`)
    opened.defer(async () => {
      await pool.query('delete from ferry.history')
    })
    expect(await begins()).toMatch(/^2020-01-01|^2019-12-31/)
  })

  test('runs every report, with its schema in the place of ferry', async () => {
    await using opened = new AsyncDisposableStack()
    const client = await connect(opened)
    for (const { query, takes, ofNight } of REPORTS) {
      const inSchema = (text: string) => text.replaceAll('ferry.', `${ROLE}.`)
      await client.query(
        inSchema(query),
        takes.map(() => null),
      )
      if (ofNight) await client.query(inSchema(ofNight), [null, '2026-01-01'])
    }
  })

  test('has all that the dashboards ask for, with its schema in the place of ferry', async () => {
    await using opened = new AsyncDisposableStack()
    const client = await connect(opened)
    const context = { from: new Date(0), to: new Date(), intervalS: 60, variables: { account: ['default'] } }
    for (const { sql } of QUERIES) {
      await client.query(expandQuery(sql.replaceAll(/\bferry\./g, `${ROLE}.`), context))
    }
  })

  test('is all that ferry_reader sees in schema ferry, but what is of the whole installation', async () => {
    const { rows } = await pool.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'ferry'::regnamespace and relkind in ('r', 'v', 'm', 'p', 'f')
       and has_any_column_privilege('ferry_reader', oid, 'select') order by 1`,
    )
    const shown = views.map(({ name }) => name)
    expect(rows.map(({ name }) => name).filter(name => !shown.includes(name))).toEqual([
      'backfills',
      'database_changes',
      'history',
      'leases',
      'migrations',
      'platform_limits',
      'receivers',
      'workers',
    ])
    const all = (await functionsIn(pool, 'ferry')).map(({ name }) => name)
    expect(functions.map(({ name }) => name)).toEqual(all)
  })

  test('is described to its readers as it is in schema ferry', async () => {
    const { rows } = await pool.query<{ name: string; here: string | null; there: string | null }>(
      `select c.relname || coalesce('.' || a.attname, '') as name, a.here, a.there
       from pg_class c join pg_class f on f.relname = c.relname and f.relnamespace = 'ferry'::regnamespace
       cross join lateral (
         select null::text as attname, obj_description(c.oid, 'pg_class') as here, obj_description(f.oid, 'pg_class') as there
         union all
         select a.attname, col_description(c.oid, a.attnum), col_description(f.oid, b.attnum)
         from pg_attribute a join pg_attribute b on b.attrelid = f.oid and b.attname = a.attname
         where a.attrelid = c.oid and a.attnum > 0
       ) a (attname, here, there)
       where c.relnamespace = $1::regnamespace and c.relkind = 'v'
       union all
       select p.proname, obj_description(p.oid, 'pg_proc'), obj_description(f.oid, 'pg_proc')
       from pg_proc p join pg_proc f on f.proname = p.proname and f.pronamespace = 'ferry'::regnamespace
       where p.pronamespace = $1::regnamespace`,
      [ROLE],
    )
    expect(rows.length).toBeGreaterThan(300)
    expect(rows.filter(({ here, there }) => here !== there)).toEqual([])
  })

  test('is shown by functions that look names up in pg_catalog first and in pg_temp last', async () => {
    const { rows } = await pool.query(
      `select distinct prosecdef, proconfig, has_function_privilege('ferry_reader', oid, 'execute') as "forOthers"
       from pg_proc where pronamespace = $1::regnamespace`,
      [ROLE],
    )
    expect(rows).toEqual([
      { prosecdef: true, proconfig: ['search_path=pg_catalog, pg_temp'], forOthers: false },
    ])
  })

  test('hides the columns that ferry_reader may not read, and keys of limits that accounts share', async () => {
    const { rows } = await pool.query<{ name: string }>(
      `select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on attrelid = c.oid and attnum > 0 and not attisdropped
       where relnamespace = 'ferry'::regnamespace and relkind in ('r', 'v') and has_column_privilege('ferry_reader', c.oid, attnum, 'select')`,
    )
    const shown = views.flatMap(({ name, columns }) =>
      columns.map(column => `${name}.${column.replaceAll('"', '')}`),
    )
    const readable = new Set(rows.map(({ name }) => name))
    expect(shown.filter(name => !readable.has(name))).toEqual([])
    const tables = new Set(views.map(({ name }) => name))
    expect(
      [...readable].filter(name => tables.has(name.split('.')[0] ?? '') && !shown.includes(name)),
    ).toEqual(['imports.wants_limit'])
  })

  /*
   * A function in a view runs as whoever reads the view, and finds what he has put into its way. So one that is asked of rows of all
   * accounts has a search_path of its own. These three are asked of rows of the reader's account, or of none.
   */
  test('is shown by views that call only functions which are safe there', async () => {
    const { rows } = await pool.query<{ name: string }>(
      `select distinct p.proname as name from pg_rewrite w
       join pg_class v on v.oid = w.ev_class and v.relnamespace::regnamespace::text in ('ferry', 'ferry_internal')
       join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refclassid = 'pg_proc'::regclass
       join pg_proc p on p.oid = d.refobjid and p.pronamespace::regnamespace::text in ('ferry', 'ferry_internal')
       where not coalesce('search_path=pg_catalog, pg_temp' = any (p.proconfig), false) order by 1`,
    )
    expect(rows.map(({ name }) => name)).toEqual([
      'alert_rule_differences',
      'history_start',
      'mcp_server_differences',
    ])
  })
})
