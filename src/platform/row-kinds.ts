import { ALERT_RULE, type AlertRule } from '#src/model/alert-rule.ts'
import { type Fields, fieldsOf, type McpTool, type RowOf } from '#src/model/fields.ts'
import { MCP_SERVER, type McpServer } from '#src/model/mcp-server.ts'
import { AlertRuleWire, isUint64, McpServerWire, McpToolWire } from './contract.ts'
import type { Declared } from './declared.ts'
import { MAX_RULES, MAX_SERVERS, TOO_MUCH } from './read-body.ts'
import type { RowKind } from './read-rows.ts'

/** How an alert rule on the network becomes one of the model. */
export const ALERT_RULES: RowKind<AlertRule, AlertRuleWire> = {
  declaration: ALERT_RULE,
  plain: {
    ofEach: ['id', 'account_id', 'triggered'],
    ofChanged: ['folder_id', 'ds_type', 'cron_pattern', 'timezone', 'created_at'],
  },
  path: ['data'],
  maxRows: MAX_RULES,
  tooMany: TOO_MUCH.rules,
  wire: AlertRuleWire,
  declared: declaredBy(ALERT_RULE.fields),
  idOf: raw => (isUint64(raw.id) ? raw.id : null),
  toRow: completer(ALERT_RULE.fields),
}

/** How an MCP server on the network becomes one of the model. */
export const MCP_SERVERS: RowKind<McpServer, McpServerWire> = {
  declaration: MCP_SERVER,
  plain: null,
  path: ['data', 'servers'],
  maxRows: MAX_SERVERS,
  tooMany: TOO_MUCH.servers,
  wire: McpServerWire,
  declared: declaredBy(MCP_SERVER.fields),
  idOf: raw => (typeof raw.server_id === 'string' && raw.server_id !== '' ? raw.server_id : null),
  toRow: completer(MCP_SERVER.fields),
}

function declaredBy(fields: Fields): Declared {
  const nested = new Map<string, 'text by key' | ReadonlySet<string>>()
  for (const name of fieldsOf(fields, 'labels')) nested.set(name, 'text by key')
  for (const name of fieldsOf(fields, 'tools')) nested.set(name, new Set(Object.keys(McpToolWire.shape)))
  return { fields: new Set(Object.keys(fields)), nested }
}

/**
 * Returns a function that puts null where a field is missing. It alters what the check made, because a copy would take as
 * long as the check.
 */
function completer<Wire extends object, F extends Fields>(fields: F): (wire: Wire) => RowOf<F> {
  const optional = Object.entries(fields).filter(([, { isOptional }]) => isOptional)
  return wire => {
    const row: Record<string, unknown> = wire as Record<string, unknown>
    for (const [name, { kind }] of optional) {
      const value = row[name]
      if (value === undefined) row[name] = null
      else if (kind === 'tools') row[name] = toTools(value as McpToolWire[] | null)
    }
    return wire as unknown as RowOf<F>
  }
}

/** Null is an empty list: the platform uses both, and a change between them does not change the server. */
function toTools(tools: readonly McpToolWire[] | null): McpTool[] {
  return (tools ?? []).map(({ name, description }) => ({
    name: name ?? null,
    description: description ?? null,
  }))
}
