import { type Client, DatabaseError, type Pool } from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { REPORTS } from '#src/reports/catalogue.ts'
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

/* A reader of one account who wants to see another one. Both have rules and servers of the same ids. */

let pool: Pool
let views: readonly View[]
let functions: readonly Routine[]
let connect: TwoReaders['connect']

beforeAll(async () => {
  const opened = await openTwoReaders()
  ;({ pool, views, functions, connect } = opened)
  return () => opened[Symbol.asyncDispose]()
}, 120_000)

/** Returns what Postgres tells the client while it runs the statements, whatever comes of them: notices and errors. */
async function toldBy(client: Client, statements: readonly string[]): Promise<string[]> {
  const told: string[] = []
  const listen = ({ message = '' }) => told.push(message)
  client.on('notice', listen)
  for (const statement of statements) {
    await client.query(statement).catch(error => {
      if (!(error instanceof DatabaseError)) throw error
      told.push([error.message, error.detail, error.hint, error.where].join(' '))
    })
  }
  client.off('notice', listen)
  return told
}

describe('a reader of one account', () => {
  test('is shown no row before it is known to be of its account, whatever the condition', async () => {
    await using opened = new AsyncDisposableStack()
    const client = await connect(opened)
    // So cheap that it is asked before all else, where Postgres may choose.
    await client.query(`create function pg_temp.leak(value anyelement) returns boolean language plpgsql cost 0.0000001 as
      $$ begin raise notice '%', value; return false; end $$`)
    const statements = views.map(
      ({ name, columns }) =>
        `select 1 from ${ROLE}.${name} where ${columns.map(column => `pg_temp.leak(${column})`).join(' or ')}`,
    )
    const told = await toldBy(client, statements)
    expect(told.length).toBeGreaterThan(1000)
    expect(told.filter(isOfOther)).toEqual([])
    const divisions = views.map(
      ({ name, columns }) => `select 1 from ${ROLE}.${name}
        where 1 / (case when concat_ws(' ', ${columns.join(', ')}) like '%kakapo%' then 0 else 1 end) = 2`,
    )
    expect(await toldBy(client, divisions)).toEqual([])
  })

  test('learns of rows of another account neither from the plan of a report nor from an error of a time too large', async () => {
    await using opened = new AsyncDisposableStack()
    const client = await connect(opened)
    const reports = views.filter(({ name }) => REPORTS.some(report => report.name === name))
    expect(reports.length).toBeGreaterThan(10)
    for (const { name } of reports) {
      const { rows } = await client.query({ text: `explain select * from ${ROLE}.${name}`, rowMode: 'array' })
      const steps = rows.flat().filter(line => line.includes('cost='))
      expect(steps, name).toEqual([expect.stringContaining(`Function Scan on rows_of_${name}`)])
    }
    const told = await toldBy(client, [
      ...['-293000 years', '293000 years'].map(
        span => `select * from ${ROLE}.silenced('-infinity', interval '${span}')`,
      ),
      ...['-infinity', 'infinity'].map(at => `select * from ${ROLE}.firing_at('${at}')`),
    ])
    expect(told).toEqual([])
  })

  test('gets none with functions, types and tables of his own, which Ferry names as its own', async () => {
    await using opened = new AsyncDisposableStack()
    const client = await connect(opened)
    const { rows: types } = await pool.query<{ name: string }>(
      `select typname as name from pg_type where typnamespace = 'pg_catalog'::regnamespace and typtype = 'b' and typcategory <> 'A'`,
    )
    const { rows: relations } = await pool.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'ferry'::regnamespace and relkind in ('r', 'v')`,
    )
    await client.query(`create function pg_temp.tell(t text) returns boolean language plpgsql as
      $$ begin raise notice '% ran: %', current_user, t; return true; end $$`)
    for (const { name } of types)
      await client.query(
        `create domain pg_temp."${name}" as pg_catalog."${name}" check (pg_temp.tell(value::pg_catalog.text))`,
      )
    for (const { name } of relations) await client.query(`create table pg_temp."${name}" ()`)
    await client.query(`
      create function evil.btrim(pg_catalog.text) returns pg_catalog.text language plpgsql as
        $$ begin raise notice '% ran: %', current_user, $1; return pg_catalog.btrim($1); end $$;
      create function evil.octet_length(pg_catalog.text) returns pg_catalog.int4 language plpgsql as
        $$ begin raise notice '% ran: %', current_user, $1; return pg_catalog.octet_length($1); end $$;
      set search_path = evil, pg_temp, pg_catalog`)
    const told = await toldBy(client, [
      'select btrim(p.cron_pattern) from ferry_reader_default.alert_rules p',
      ...views.map(({ name }) => `select * from ${ROLE}.${name}`),
      ...functions.map(one => `select * from ${ROLE}.${callOf(one)}`),
    ])
    expect(told).toContain(`${client.user} ran: x y z * *`)
    expect(told.filter(isOfOther)).toEqual([])
    expect(told.filter(text => text.includes(' ran: ') && !text.startsWith(`${client.user} `))).toEqual([])
  })

  test('may use nothing of Ferry but its own schema, and the start of the history', async () => {
    await using opened = new AsyncDisposableStack()
    const client = await connect(opened)
    const { rows: all } = await pool.query<{ name: string; kind: string }>(
      `select format('%I.%I', relnamespace::regnamespace::text, relname) as name from pg_class c where relkind in ('r', 'v', 'm', 'p', 'S')
       and relnamespace::regnamespace::text in ('ferry', 'ferry_internal', 'ferry_reader_umbrella') order by 1`,
    )
    expect(all.length).toBeGreaterThan(110)
    const open: string[] = []
    for (const { name } of all) {
      await client.query(`select from ${name}`).then(
        () => open.push(name),
        error => expect(error).toMatchObject({ code: '42501' }),
      )
      await expect(client.query(`delete from ${name}`), name).rejects.toThrow()
    }
    expect(open).toEqual(['ferry.history'])
    for (const { name } of views) {
      await expect(client.query(`delete from ${ROLE}.${name}`), name).rejects.toThrow(/denied|cannot/)
      await expect(client.query(`select * from ferry_reader_umbrella.${name}`), name).rejects.toMatchObject({
        code: '42501',
      })
    }
    await expect(client.query(`create table ${ROLE}.mine ()`)).rejects.toMatchObject({ code: '42501' })
    await expect(client.query(`create table ferry.mine ()`)).rejects.toMatchObject({ code: '42501' })
  })

  test('gets nothing from the functions of Ferry, which run as whoever calls them', async () => {
    await using opened = new AsyncDisposableStack()
    const client = await connect(opened)
    const rows = await functionsIn(pool, 'ferry')
    const calls = rows.map(one => callOf(one)).filter(call => !/^(history_start)\(/.test(call))
    expect(calls.length).toBeGreaterThan(30)
    for (const call of calls) {
      await expect(client.query(`select * from ferry.${call}`), call).rejects.toThrow(
        /permission denied|does not exist|Unknown/,
      )
    }
  })
})
