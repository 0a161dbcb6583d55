/*
 * The kinds of the contract's fields of alert rules and MCP servers, for code that reads fields by their names. All other
 * fields are texts or JSON.
 */

/** uint64 ids: bigints in TypeScript, strings in JSON. */
export const ID_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'account_id',
  'folder_id',
  'creator_id',
  'updater_id',
  'team_id',
  'created_by',
])

/** 64-bit integers that are not ids: numbers in JSON, unless they exceed 2^53. */
export const NUMBER_FIELDS: ReadonlySet<string> = new Set([
  'delay_seconds',
  'created_at',
  'updated_at',
  'connect_timeout',
  'call_timeout',
  'tool_count',
])

export const FLAG_FIELDS: ReadonlySet<string> = new Set(['enabled', 'debug_log_enabled', 'can_edit'])
