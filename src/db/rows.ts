import { z } from 'zod'

/*
 * The rows of raw SQL. Postgres sends what a statement says, whatever TypeScript believes: each row passes a zod schema
 * here, or it goes no further. Columns come as `snake_case` and leave as `camelCase`, so a statement needs no quoted names.
 *
 *     findAll    every row            findOne    the only row of a statement that always has one
 *     findMaybe  the first, or null   findValue  the only column of that row   findColumn  the only column of every row
 *
 * Declare a schema once, outside of functions: zod compiles it at its first row. A row of ten columns then takes 1 µs.
 */

/** Runs a statement: a pool, a connection, or `answeringWithin`. */
export type Queryable = { query(text: string, values?: unknown[]): Promise<Found> }

export type Found = {
  readonly fields: readonly { readonly name: string }[]
  readonly rows: readonly Columns[]
}
type Columns = Readonly<Record<string, unknown>>

/** An `int8`, or a whole `numeric`: the driver hands on its digits. */
export const Int8 = z.string().transform(BigInt)

/** Returns every row. Throws a `ZodError` that names the column, not its value, if a row is not a `Result`. */
export async function findAll<Row>(
  client: Queryable,
  Result: z.ZodType<Row>,
  text: string,
  values?: unknown[],
): Promise<Row[]> {
  return rowsOf(Result, await client.query(text, values))
}

/** Returns the row of a statement that always returns one, such as an aggregate. Throws if it returned none. */
export async function findOne<Row>(
  client: Queryable,
  Result: z.ZodType<Row>,
  text: string,
  values?: unknown[],
): Promise<Row> {
  return onlyRow(await findAll(client, Result, text, values), text)
}

/** Returns the first row; null if there is none. */
export async function findMaybe<Row>(
  client: Queryable,
  Result: z.ZodType<Row>,
  text: string,
  values?: unknown[],
): Promise<Row | null> {
  const [row] = await findAll(client, Result, text, values)
  return row ?? null
}

/** Returns the first column of the row of a statement that always returns one. Throws if it returned none. */
export async function findValue<Value>(
  client: Queryable,
  Result: z.ZodType<Value>,
  text: string,
  values?: unknown[],
): Promise<Value> {
  return onlyRow(await findColumn(client, Result, text, values), text)
}

/** Returns the first column of every row. */
export async function findColumn<Value>(
  client: Queryable,
  Result: z.ZodType<Value>,
  text: string,
  values?: unknown[],
): Promise<Value[]> {
  const { rows } = await client.query(text, values)
  return rows.map(row => Result.parse(Object.values(row)[0]))
}

/** Checks rows that were found already, as by a cursor, and keeps the names of their columns: fields of the contract. */
export function namedRowsOf<Row>(Result: z.ZodType<Row>, { rows }: Found): Row[] {
  return rows.map(row => Result.parse(row))
}

/** Checks rows that were found already, as by a cursor. */
export function rowsOf<Row>(Result: z.ZodType<Row>, { fields, rows }: Found): Row[] {
  const names = fields.map(({ name }) => [name, camelOf(name)] as const)
  const isSame = names.every(([column, name]) => column === name)
  return rows.map(row => Result.parse(isSame ? row : renamed(row, names)))
}

function renamed(row: Columns, names: readonly (readonly [column: string, name: string])[]): Columns {
  const result: Record<string, unknown> = {}
  for (const [column, name] of names) result[name] = row[column]
  return result
}

function camelOf(column: string): string {
  return column.replaceAll(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase())
}

/** Returns the row of a statement that always returns one. Throws, and names the statement, if it returned none. */
export function onlyRow<Row>([row]: readonly Row[], statement: string): Row {
  if (row === undefined) throw new Error(`${statement} returned no row`)
  return row
}

/** Returns how many rows an insert, update, delete or select was about. Throws for a statement that is none of them. */
export function countOf({ rowCount }: { readonly rowCount: number | null }): number {
  if (rowCount === null) throw new Error('the statement does not tell how many rows it was about')
  return rowCount
}

/** SQL of an instant as text in UTC, exact to the microsecond: of two such texts, the later instant has the greater one. */
export function keyInstant(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}
