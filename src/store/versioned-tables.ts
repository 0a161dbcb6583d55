import type { AlertRule } from '#src/model/alert-rule.ts'
import type { McpServer } from '#src/model/mcp-server.ts'

/**
 * A table of versions and how a row of the model is written into it.
 *
 * Names come from here only, never from input, so they may be spliced into SQL.
 */
export type VersionedTable<Row> = {
  readonly name: string
  readonly idColumn: string
  readonly idType: 'numeric' | 'text'
  idOf(row: Row): string
  /** The contract's columns in the order of the table; a value is COPY's text before escaping, or null. */
  readonly columns: readonly (readonly [name: string, value: (row: Row) => string | null])[]
  /** The columns that are jsonb: their text is no canonical form. */
  readonly jsonColumns: ReadonlySet<string>
  /** The column that holds a row's folder, where the resource has folders. */
  readonly folderColumn: string | null
}

export const ALERT_RULE_VERSIONS: VersionedTable<AlertRule> = {
  name: 'ferry.alert_rule_versions',
  idColumn: 'id',
  idType: 'numeric',
  idOf: rule => `${rule.id}`,
  jsonColumns: new Set(['labels']),
  folderColumn: 'folder_id',
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
}

export const MCP_SERVER_VERSIONS: VersionedTable<McpServer> = {
  name: 'ferry.mcp_server_versions',
  idColumn: 'server_id',
  idType: 'text',
  idOf: server => server.server_id,
  jsonColumns: new Set(['tools']),
  folderColumn: null,
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
}

function integer(value: bigint | null): string | null {
  return value === null ? null : `${value}`
}
