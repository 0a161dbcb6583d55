/*
 * An inventory's fields are declared once, in `alert-rule.ts` and `mcp-server.ts`. From there come the check of what the
 * platform sends, the type of a row, the columns of its table and their comments, what COPY writes, the fingerprint, and
 * what people see of a field. A test compares the SQL files that name fields with the declaration.
 */

/** An exact integer: a number up to ±(2^53-1), a bigint beyond. */
export type Integer = number | bigint

export type McpTool = { readonly name: string | null; readonly description: string | null }

/** The value of a field of each kind. */
export type ValueOf<Int extends Integer> = {
  /** An id from 0 to 2^64-1. */
  uint64: Int
  /** An id of which the contract does not say whether it is signed. */
  id64: Int
  int64: Int
  text: string
  /** An id of 1 to 500 characters. */
  'text id': string
  flag: boolean
  /** Texts by free keys. Their order says nothing. */
  labels: Readonly<Record<string, string>>
  /** In the platform's order. */
  tools: readonly McpTool[]
}

export type FieldKind = keyof ValueOf<Integer>

export type Field = {
  readonly kind: FieldKind
  readonly isOptional?: true
  /** It changes without an edit, so it is in no fingerprint and in no version. */
  readonly isState?: true
  /** It names the author or the time of an edit. That is shown beside a change, and is not a difference of its own. */
  readonly isAboutEdit?: true
  /** The contract names some of its values, and there may be others: one that was never seen before is news. */
  readonly isOpenSet?: true
  /** The label of its value; a field without it is not on the console's page of a row. */
  readonly label?: string | undefined
  /** The comment of its column. */
  readonly means: string
}

export type Fields = Readonly<Record<string, Field>>

/** The fields of an inventory's rows. They keep the contract's names from the network to the column, in this order. */
export type Declaration = {
  /** Increase this when the canonical form of a row changes: then no run relies on fingerprints of an older form. */
  readonly fingerprintVersion: number
  readonly id: string
  readonly name: string
  /** Null if the inventory has no folders. */
  readonly folder: string | null
  readonly fields: Fields
}

/** A field that the platform must send. */
export function required<K extends FieldKind>(kind: K, means: string, label?: string) {
  return { kind, means, label }
}

/** A field that the platform may leave out, or send as null: then it is null. */
export function optional<K extends FieldKind>(kind: K, means: string, label?: string) {
  return { kind, means, label, isOptional: true } as const
}

/** A text of which the contract names some values only. */
export function open<F extends Field>(field: F) {
  return { ...field, means: `${field.means} An open set of values.`, isOpenSet: true } as const
}

/** A row of the model. */
export type RowOf<F extends Fields, Int extends Integer = Integer> = {
  readonly [Name in keyof F]:
    | ValueOf<Int>[F[Name]['kind']]
    | (F[Name] extends { isOptional: true } ? null : never)
}

/** A row of either inventory, for code that reads fields by their names. */
export type AnyRow = Readonly<Record<string, ValueOf<Integer>[FieldKind] | null>>

/** The names of the fields that make up the definition of a row: all but states. */
export function definitionOf(fields: Fields): string[] {
  return Object.keys(fields).filter(name => !fields[name]?.isState)
}

/** The names of the fields of some kinds. */
export function fieldsOf(fields: Fields, ...kinds: readonly FieldKind[]): string[] {
  return Object.keys(fields).filter(name => fields[name] && kinds.includes(fields[name].kind))
}

/** Returns the value of a field as a text, or as JSON if it is an object; null if there is none. */
export function textOfValue(value: AnyRow[string] | undefined): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? JSON.stringify(value) : `${value}`
}
