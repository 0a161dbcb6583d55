import type { AlertRule } from '#src/model/alert-rule.ts'
import type { McpServer, McpTool } from '#src/model/mcp-server.ts'
import { AlertRuleWire, isUint64, McpServerWire, McpToolWire } from './contract.ts'
import type { RowKind } from './read-rows.ts'

/** How an alert rule on the network becomes one of the model. */
export const ALERT_RULES: RowKind<AlertRule, AlertRuleWire> = {
  wire: AlertRuleWire,
  declared: {
    fields: new Set(Object.keys(AlertRuleWire.shape)),
    nested: new Map([['labels', 'text by key']]),
  },
  idOf: raw => (isUint64(raw.id) ? raw.id : null),
  toRow: wire => ({
    id: wire.id,
    account_id: wire.account_id,
    folder_id: wire.folder_id,
    name: wire.name,
    labels: wire.labels ?? null,
    ds_type: wire.ds_type,
    enabled: wire.enabled,
    debug_log_enabled: wire.debug_log_enabled,
    cron_pattern: wire.cron_pattern,
    timezone: wire.timezone ?? null,
    delay_seconds: wire.delay_seconds,
    creator_id: wire.creator_id,
    creator_name: wire.creator_name,
    updater_id: wire.updater_id,
    updater_name: wire.updater_name,
    created_at: wire.created_at,
    updated_at: wire.updated_at,
    triggered: wire.triggered,
  }),
}

/** How an MCP server on the network becomes one of the model. */
export const MCP_SERVERS: RowKind<McpServer, McpServerWire> = {
  wire: McpServerWire,
  declared: {
    fields: new Set(Object.keys(McpServerWire.shape)),
    nested: new Map([['tools', new Set(Object.keys(McpToolWire.shape))]]),
  },
  idOf: raw => (typeof raw.server_id === 'string' && raw.server_id !== '' ? raw.server_id : null),
  toRow: wire => ({
    server_id: wire.server_id,
    account_id: exact(wire.account_id),
    team_id: exact(wire.team_id),
    can_edit: wire.can_edit ?? null,
    server_name: wire.server_name ?? null,
    description: wire.description ?? null,
    transport: wire.transport ?? null,
    url: wire.url ?? null,
    status: wire.status ?? null,
    connect_timeout: exact(wire.connect_timeout),
    call_timeout: exact(wire.call_timeout),
    tool_count: exact(wire.tool_count),
    // Null is an empty list: the platform uses both, and a change between them is no change of the server.
    tools: wire.tools === undefined ? null : (wire.tools ?? []).map(toTool),
    auth_mode: wire.auth_mode ?? null,
    created_by: exact(wire.created_by),
    created_at: exact(wire.created_at),
    updated_at: exact(wire.updated_at),
  }),
}

function toTool({ name, description }: McpToolWire): McpTool {
  return { name: name ?? null, description: description ?? null }
}

function exact(integer: number | bigint | null | undefined): bigint | null {
  return integer === null || integer === undefined ? null : BigInt(integer)
}
