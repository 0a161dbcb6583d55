import { hash } from 'node:crypto'
import type { AlertRule } from './alert-rule.ts'
import type { McpServer } from './mcp-server.ts'

/** Increase this when the canonical form below changes: then no run relies on hashes of an older form. */
export const FINGERPRINT_VERSION = 1

/**
 * The first 128 bits of the SHA-256 of a row's canonical JSON, written as a uuid: 16 bytes in Postgres, and two
 * of a billion rows share one by chance with a probability of about 10^-21.
 */
export function fingerprint(canonicalJson: string): string {
  const hex = hash('sha256', canonicalJson, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

/** The definition of a rule as one text: every declared field except `triggered`, in a fixed order. */
export function canonicalAlertRule(rule: AlertRule): string {
  return JSON.stringify([
    `${rule.id}`,
    `${rule.account_id}`,
    `${rule.folder_id}`,
    rule.name,
    rule.labels && sortedEntries(rule.labels),
    rule.ds_type,
    rule.enabled,
    rule.debug_log_enabled,
    rule.cron_pattern,
    rule.timezone,
    `${rule.delay_seconds}`,
    `${rule.creator_id}`,
    rule.creator_name,
    `${rule.updater_id}`,
    rule.updater_name,
    `${rule.created_at}`,
    `${rule.updated_at}`,
  ])
}

/** The definition of a server as one text. Its tools keep the platform's order. */
export function canonicalMcpServer(server: McpServer): string {
  return JSON.stringify([
    server.server_id,
    text(server.account_id),
    text(server.team_id),
    server.can_edit,
    server.server_name,
    server.description,
    server.transport,
    server.url,
    server.status,
    text(server.connect_timeout),
    text(server.call_timeout),
    text(server.tool_count),
    server.tools?.map(tool => [tool.name, tool.description]) ?? null,
    server.auth_mode,
    text(server.created_by),
    text(server.created_at),
    text(server.updated_at),
  ])
}

function sortedEntries(labels: Readonly<Record<string, string>>): [string, string][] {
  const entries = Object.entries(labels)
  return entries.length > 1 ? entries.sort(([a], [b]) => (a < b ? -1 : 1)) : entries
}

function text(integer: bigint | null): string | null {
  return integer === null ? null : `${integer}`
}
