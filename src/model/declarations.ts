import { ALERT_RULE } from './alert-rule.ts'
import { type Declaration, type FieldKind, fieldsOf } from './fields.ts'
import { MCP_SERVER } from './mcp-server.ts'
import type { Resource } from './resource.ts'

/** The fields of each inventory. */
export const DECLARATIONS: Readonly<Record<Resource, Declaration>> = {
  'alert-rules': ALERT_RULE,
  'mcp-servers': MCP_SERVER,
}

/** The fields that say who made an edit, and when. */
export const EDIT_FIELDS = Object.values(DECLARATIONS).flatMap(({ fields }) =>
  Object.keys(fields).filter(name => fields[name]?.isAboutEdit),
)

/** Says of an edit that only its editor and time are known: what was edited is not in the view that Ferry reads. */
export const OUTSIDE_BASIC_VIEW = 'edited outside the basic view'

/** Ids of 64 bits in either inventory: bigints in TypeScript, strings in JSON. */
export const ID_FIELDS = fieldsOfAll('uint64', 'id64')

/** 64-bit integers in either inventory that are not ids: numbers in JSON, unless they exceed 2^53. */
export const NUMBER_FIELDS = fieldsOfAll('int64')

function fieldsOfAll(...kinds: readonly FieldKind[]): ReadonlySet<string> {
  return new Set(Object.values(DECLARATIONS).flatMap(({ fields }) => fieldsOf(fields, ...kinds)))
}
