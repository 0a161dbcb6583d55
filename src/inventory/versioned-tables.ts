import type { AlertRule, Integer } from '#src/model/alert-rule.ts'
import type { McpServer } from '#src/model/mcp-server.ts'

/** A table of versions, and how a row of the model is written into it. Its names never come from input, so SQL may contain them. */
export type VersionedTable<Row> = {
  readonly name: string
  readonly idColumn: string
  readonly idType: 'numeric' | 'text'
  readonly nameColumn: 'name' | 'server_name'
  idOf(row: Row): string
  /** The contract's columns in the order of the table. A value is the text for COPY before escaping, or null. */
  readonly columns: readonly (readonly [name: string, value: (row: Row) => string | null])[]
  /** The jsonb columns: equal values may have different texts. */
  readonly jsonColumns: ReadonlySet<string>
  /** The column of a row's folder; null if the resource has no folders. */
  readonly folderColumn: string | null
  folderOf(row: Row): string | null
  createdAtOf(row: Row): Integer | null
}

export const ALERT_RULE_VERSIONS = {
  name: 'ferry.alert_rule_versions',
  idColumn: 'id',
  idType: 'numeric',
  nameColumn: 'name',
  idOf: rule => `${rule.id}`,
  jsonColumns: new Set(['labels']),
  folderColumn: 'folder_id',
  folderOf: rule => `${rule.folder_id}`,
  createdAtOf: rule => rule.created_at,
  columns: [
    ['account_id', rule => `${rule.account_id}`],
    ['folder_id', rule => `${rule.folder_id}`],
    ['name', rule => rule.name],
    ['labels', rule => rule.labels && JSON.stringify(rule.labels)],
    ['ds_type', rule => rule.ds_type],
    ['enabled', rule => `${rule.enabled}`],
    ['debug_log_enabled', rule => `${rule.debug_log_enabled}`],
    ['cron_pattern', rule => rule.cron_pattern],
    ['timezone', rule => rule.timezone],
    ['delay_seconds', rule => `${rule.delay_seconds}`],
    ['creator_id', rule => `${rule.creator_id}`],
    ['creator_name', rule => rule.creator_name],
    ['updater_id', rule => `${rule.updater_id}`],
    ['updater_name', rule => rule.updater_name],
    ['created_at', rule => `${rule.created_at}`],
    ['updated_at', rule => `${rule.updated_at}`],
  ],
} as const satisfies VersionedTable<AlertRule>

export const MCP_SERVER_VERSIONS = {
  name: 'ferry.mcp_server_versions',
  idColumn: 'server_id',
  idType: 'text',
  nameColumn: 'server_name',
  idOf: server => server.server_id,
  jsonColumns: new Set(['tools']),
  folderColumn: null,
  folderOf: () => null,
  createdAtOf: server => server.created_at,
  columns: [
    ['account_id', server => integer(server.account_id)],
    ['team_id', server => integer(server.team_id)],
    ['can_edit', server => (server.can_edit === null ? null : `${server.can_edit}`)],
    ['server_name', server => server.server_name],
    ['description', server => server.description],
    ['transport', server => server.transport],
    ['url', server => server.url],
    ['status', server => server.status],
    ['connect_timeout', server => integer(server.connect_timeout)],
    ['call_timeout', server => integer(server.call_timeout)],
    ['tool_count', server => integer(server.tool_count)],
    ['tools', server => server.tools && JSON.stringify(server.tools)],
    ['auth_mode', server => server.auth_mode],
    ['created_by', server => integer(server.created_by)],
    ['created_at', server => integer(server.created_at)],
    ['updated_at', server => integer(server.updated_at)],
  ],
} as const satisfies VersionedTable<McpServer>

/** The table of versions of each resource. */
export const VERSIONS = { 'alert-rules': ALERT_RULE_VERSIONS, 'mcp-servers': MCP_SERVER_VERSIONS } as const

function integer(value: bigint | null): string | null {
  return value === null ? null : `${value}`
}

/** Ids as a parameter. One literal of numbers costs a tenth of an array of strings; texts need the driver's quoting. */
export function idArray<Row>(table: VersionedTable<Row>, ids: readonly string[]): string | readonly string[] {
  return table.idType === 'numeric' ? `{${ids.join(',')}}` : ids
}
