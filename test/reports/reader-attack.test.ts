import { Client, DatabaseError, type Pool } from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { migrateQueue } from '#src/queue/backend.ts'
import { openFilledDatabase } from '#test/integrations/filled-database.ts'
import { createMember } from './member.ts'

/*
 * A reader who wants to be the owner. The schema `pg_temp` is his own, and Postgres looks names up there first unless
 * somebody says otherwise: relations and types. He names his own objects as a body of Ferry names its own, and waits for
 * somebody with more rights to use them.
 */

let pool: Pool
let attackerUrl: string

beforeAll(async () => {
  const opened = new AsyncDisposableStack()
  const database = opened.use(await openFilledDatabase())
  pool = database.pool
  await migrateQueue({ databaseUrl: database.databaseUrl, redisUrl: null })
  attackerUrl = await createMember(opened, { url: database.databaseUrl, pool })
  return () => opened.disposeAsync()
})

/**
 * Makes the attacker's own objects, and runs the statements, whatever comes of them. Returns as whom the attacker's function
 * ran, but for himself. On a new connection each time: one that has called a function before keeps its plan.
 */
async function attack(objects: readonly string[], statements: readonly string[]): Promise<string[]> {
  const attacker = new Client({ connectionString: attackerUrl })
  const ranAs = new Set<string>()
  attacker.on('notice', ({ message = '' }) => ranAs.add(message))
  await attacker.connect()
  try {
    await attacker.query(EVIL)
    for (const object of objects) await attacker.query(object)
    for (const statement of statements) {
      await attacker.query(statement).catch(error => {
        if (!(error instanceof DatabaseError)) throw error
      })
    }
    ranAs.delete(attacker.user ?? '')
    return [...ranAs].sort()
  } finally {
    await attacker.end()
  }
}

const EVIL = `create function pg_temp.evil() returns boolean language plpgsql as
  $$ begin raise notice '%', current_user; return true; end $$`

/** The types of its arguments are written with their schema, so that a call needs no type of the attacker. */
type Routine = { readonly name: string; readonly types: readonly string[] }

/** The functions of all schemas that are not Postgres's own. */
async function functionsWhere(condition: string): Promise<Routine[]> {
  const { rows } = await pool.query<Routine>(
    `select format('%s.%I', p.pronamespace::regnamespace, p.proname) as name, array(
       select format('%s.%I', t.typnamespace::regnamespace, t.typname)
       from unnest(p.proargtypes) with ordinality a (oid, n) join pg_type t using (oid) order by n) as types
     from pg_proc p where p.pronamespace in (
       select oid from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema')
     and p.prokind = 'f' and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype) and (${condition}) order by 1`,
  )
  return rows
}

/** Something of each type that a function of Ferry takes. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  text: ['', 'alert-rules', 'account:default'],
  _text: ['{a,b}'],
  int4: ['1'],
  _int4: ['{1,1000}'],
  int8: ['1'],
  _int8: ['{1,2}'],
  numeric: ['1'],
  float8: ['1'],
  bool: ['true'],
  interval: ['1 day'],
  timestamptz: ['2020-01-01Z', '2099-01-01Z'],
  uuid: ['00000000-0000-0000-0000-000000000000'],
  jsonb: ['{}'],
  regclass: ['ferry.alert_rules'],
}

/** Calls with nulls, and with the first, second and third sample of each argument. */
function callsOf({ name, types }: Routine): string[] {
  const call = (write: (samples: readonly string[]) => string) => {
    const values = types.map(type => `${write(SAMPLES[type.replace('pg_catalog.', '')] ?? [])}::${type}`)
    return `select * from ${name}(${values.join(', ')}) limit 100`
  }
  const nth = (index: number) => (samples: readonly string[]) => {
    const sample = samples[index % samples.length]
    return sample === undefined ? 'null' : `'${sample}'`
  }
  return [...new Set([call(() => 'null'), ...[0, 1, 2].map(index => call(nth(index)))])]
}

/** Statements that give the attacker a domain with the name of each type of Postgres, by the name. */
async function ownTypes(): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ name: string }>(
    `select typname as name from pg_type
     where typnamespace = 'pg_catalog'::regnamespace and typtype in ('b', 'r') and typcategory <> 'A'`,
  )
  return new Map(
    rows.map(({ name }) => [
      name,
      `create domain pg_temp."${name}" as pg_catalog."${name}" check (pg_temp.evil())`,
    ]),
  )
}

/** Statements that give the attacker a view with the name of each table and view of Ferry and of Postgres. */
async function ownRelations(): Promise<string[]> {
  const { rows } = await pool.query<{ name: string; columns: string }>(
    `select relname as name, string_agg(format('null::%s as %I', format_type(atttypid, atttypmod), attname), ', ' order by attnum) as columns
     from pg_class c join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped
     where relkind in ('r', 'v') and (relnamespace in ('ferry'::regnamespace, 'ferry_internal'::regnamespace)
       or c.oid in ('pg_class'::regclass, 'pg_attribute'::regclass) and atttypid <> 'anyarray'::regtype)
     group by c.oid, relname`,
  )
  return rows.map(
    ({ name, columns }) =>
      `create view pg_temp."${name}" as select ${columns} from (select pg_temp.evil()) e`,
  )
}

/** Functions that run as their owner, and name a type and a table as their attacker may have them too. */
const PLANTED = ['empty', 'catalog', 'open', 'safe'].map(name => `ferry.planted_${name}`)
const SEARCH_PATHS = [`''`, 'pg_catalog', 'pg_catalog, public', 'pg_catalog, pg_temp']

describe('a reader with types and tables of his own', () => {
  test('gets what leaves room for them, and nothing else: this attack works', async () => {
    for (const [index, name] of PLANTED.entries()) {
      await pool.query(`create function ${name}() returns text language sql security definer
        set search_path = ${SEARCH_PATHS[index]} as $$ select 1::float8::text $$`)
    }
    const owner = (await pool.query('select current_user as name')).rows[0].name
    const domain = (await ownTypes()).get('float8') ?? ''
    const outcomes = PLANTED.map(name => attack([domain], [`select ${name}()`]))
    expect(await Promise.all(outcomes)).toEqual([[owner], [owner], [owner], []])
    await pool.query(`drop function ${PLANTED.map(name => `${name}()`).join(', ')}`)
  })

  test('runs nothing as the owner, whichever function he calls and whichever view he reads', async () => {
    const functions = await functionsWhere('true')
    expect(functions.length).toBeGreaterThan(50)
    const { rows: views } = await pool.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
       where relnamespace in ('ferry'::regnamespace, 'ferry_internal'::regnamespace) and relkind = 'v'`,
    )
    const statements = [
      ...functions.flatMap(callsOf),
      ...views.map(({ name }) => `select * from ${name} limit 100`),
    ]
    expect(await attack([...(await ownTypes()).values(), ...(await ownRelations())], statements)).toEqual([])
  })

  test('runs nothing with any one type in any function that runs as its owner', async () => {
    const calls = (await functionsWhere('p.prosecdef')).flatMap(callsOf)
    const open: string[] = []
    for (const [type, domain] of await ownTypes()) {
      if ((await attack([domain], calls)).length > 0) open.push(type)
    }
    expect(open).toEqual([])
  })
})

test('a function that runs as its owner looks names up in pg_catalog first and in pg_temp last', async () => {
  const { rows } = await pool.query<{ name: string }>(
    `select p.oid::regprocedure::text as name from pg_proc p
     where prosecdef and pronamespace <> 'pg_catalog'::regnamespace
       and not coalesce('search_path=pg_catalog, pg_temp' = any (proconfig), false)`,
  )
  expect(rows).toEqual([])
})
