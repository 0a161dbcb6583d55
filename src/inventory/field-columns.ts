import type { NotNull } from 'drizzle-orm'
import { boolean, jsonb, text } from '#src/db/drizzle.ts'
import { int64, uint64 } from '#src/db/schema.ts'
import type { Field, FieldKind, Fields } from '#src/model/fields.ts'

/** The column of a field of each kind. */
const COLUMNS = {
  uint64: (name: string) => uint64(name),
  id64: (name: string) => uint64(name),
  int64,
  text: (name: string) => text(name),
  'text id': (name: string) => text(name),
  flag: (name: string) => boolean(name),
  labels: (name: string) => jsonb(name),
  tools: (name: string) => jsonb(name),
} satisfies Record<FieldKind, (name: string) => unknown>

type Columns = typeof COLUMNS
type ColumnOf<F extends Field> = F extends { isOptional: true }
  ? ReturnType<Columns[F['kind']]>
  : NotNull<ReturnType<Columns[F['kind']]>>

type WithColumn<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { isState: true } ? never : Name
}[keyof F]

/** Returns the columns of an inventory's fields for its table of versions: of all but the id and what is state. */
export function fieldColumns<const F extends Fields, Id extends keyof F>({
  id,
  fields,
}: {
  readonly id: Id
  readonly fields: F
}) {
  const columns = Object.entries(fields)
    .filter(([name, { isState }]) => name !== id && !isState)
    .map(([name, { kind, isOptional }]) => {
      const column = COLUMNS[kind](name)
      return [name, isOptional ? column : column.notNull()]
    })
  return Object.fromEntries(columns) as { [Name in Exclude<WithColumn<F>, Id>]: ColumnOf<F[Name]> }
}
