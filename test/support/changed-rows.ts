import type { Pool } from 'pg'

type Rows = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** All rows of Ferry, each by its table and key. */
async function readAllRows(pool: Pool): Promise<Rows> {
  const { rows: tables } = await pool.query<{ table: string; key: string[] }>(TABLES)
  const found = tables.map(async ({ table, key }) => {
    const { rows } = await pool.query<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ferry.${table} t`,
    )
    return rows.map(({ row }) => {
      const values = Object.entries(row).filter(([name]) => !key.includes(name))
      return [`${table} ${key.map(name => row[name]).join(' ')}`, Object.fromEntries(values)] as const
    })
  })
  return new Map((await Promise.all(found)).flat())
}

const TABLES = `
  select c.relname as "table", array_agg(a.attname::text order by a.attnum) as key
  from pg_index i join pg_class c on c.oid = i.indrelid
  join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey::int[])
  where i.indisprimary and c.relnamespace = 'ferry'::regnamespace group by 1 order by 1`

/** What an action returns, or the error, and what it changes in the database. */
export async function changedBy(pool: Pool, act: () => Promise<unknown>): Promise<string[]> {
  const before = await readAllRows(pool)
  const said = await act().then(shown, error => `${error.name}: ${error.message}`)
  return [said, ...changedRows(before, await readAllRows(pool))]
}

/** What became of rows, a line each: `imports 1: status "queued" → "paused"`, `+ audit 2: …` with what is not null, `- leases x`. */
function changedRows(before: Rows, after: Rows): string[] {
  const gone = [...before.keys()].filter(key => !after.has(key)).map(key => `- ${steady(key)}`)
  const lines = [...after].flatMap(([key, row]) => {
    const old = before.get(key)
    if (old === undefined) {
      const values = Object.entries(row).flatMap(([name, value]) =>
        value === null ? [] : [`${name} ${shown(value)}`],
      )
      return [`+ ${steady(key)}: ${values.join(', ')}`]
    }
    const changes = Object.entries(row).flatMap(([name, value]) => {
      return JSON.stringify(old[name]) === JSON.stringify(value)
        ? []
        : [`${name} ${shown(old[name])} → ${name.endsWith('_ms') ? 'some' : shown(value)}`]
    })
    return changes.length > 0 ? [`${steady(key)}: ${changes.join(', ')}`] : []
  })
  return [...gone, ...lines].sort()
}

function shown(value: unknown): string {
  return steady(JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}` : one)) ?? 'nothing')
}

/** What is of this run, by what it is. */
function steady(text: string): string {
  return text
    .replaceAll(/"?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(\+00:00|Z)?"?/g, 'a time')
    .replaceAll(/"?[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}"?|"?\b[\da-f]{16,64}\b"?/g, 'a key')
    .replaceAll(/"durationMs":\d+/g, '"durationMs":some')
}
