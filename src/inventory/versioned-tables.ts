import { ALERT_RULE, type AlertRule } from '#src/model/alert-rule.ts'
import {
  type AnyRow,
  type Declaration,
  definitionOf,
  type FieldKind,
  type Integer,
  textOfValue,
} from '#src/model/fields.ts'
import { MCP_SERVER, type McpServer } from '#src/model/mcp-server.ts'

/** A table of versions, and how a row of the model is written into it. Its names never come from input, so SQL may contain them. */
export type VersionedTable<Row> = {
  readonly name: string
  readonly idColumn: string
  readonly idType: 'numeric' | 'text'
  readonly nameColumn: string
  idOf(row: Row): string
  /** The contract's columns, in the order in which they are written. */
  readonly definition: readonly string[]
  /** The same but the id. */
  readonly columns: readonly string[]
  /** The value of a column as Postgres writes it (jsonb: but for spaces and the order of keys), or null. */
  textOf(row: Row, column: string): string | null
  kindOf(column: string): FieldKind
  /** The column of a row's folder; null if the resource has no folders. */
  readonly folderColumn: string | null
  folderOf(row: Row): string | null
  createdAtOf(row: Row): Integer | null
}

export const ALERT_RULE_VERSIONS: VersionedTable<AlertRule> = versionsOf(
  'ferry.alert_rule_versions',
  ALERT_RULE,
)
export const MCP_SERVER_VERSIONS: VersionedTable<McpServer> = versionsOf(
  'ferry.mcp_server_versions',
  MCP_SERVER,
)

/** The table of versions of each resource. */
export const VERSIONS = { 'alert-rules': ALERT_RULE_VERSIONS, 'mcp-servers': MCP_SERVER_VERSIONS } as const

function versionsOf(
  name: string,
  { id, name: nameColumn, folder, fields }: Declaration,
): VersionedTable<AnyRow> {
  const kindOf = (column: string) => {
    const field = fields[column]
    if (!field) throw new Error(`${name} has no column ${column} of the contract`)
    return field.kind
  }
  return {
    name,
    idColumn: id,
    idType: kindOf(id) === 'text id' ? 'text' : 'numeric',
    nameColumn,
    idOf: row => `${row[id]}`,
    definition: definitionOf(fields),
    columns: definitionOf(fields).filter(column => column !== id),
    textOf: (row, column) => textOfValue(row[column]),
    kindOf,
    folderColumn: folder,
    folderOf: row => (folder === null ? null : `${row[folder]}`),
    createdAtOf: ({ created_at: at }) => (typeof at === 'number' || typeof at === 'bigint' ? at : null),
  }
}

/** Ids as a parameter. One literal of numbers costs a tenth of an array of strings; texts need the driver's quoting. */
export function idArray<Row>(table: VersionedTable<Row>, ids: readonly string[]): string | readonly string[] {
  return table.idType === 'numeric' ? `{${ids.join(',')}}` : ids
}
