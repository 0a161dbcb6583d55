import { isDeepStrictEqual } from 'node:util'
import { parseLossless } from '#src/platform/lossless-json.ts'

/** A document of the contract, or the part of it that differs. */
export type Fields = Readonly<Record<string, unknown>>

/** Who changed it and when has columns of its own. */
const NOT_SHOWN = ['updater_id', 'updater_name', 'updated_at']

/** `enabled: true → false, labels.severity: "warning" → "critical"` */
export function differencesOf(before: Fields | null, after: Fields | null, path = ''): string {
  const names = Object.keys({ ...before, ...after }).filter(name => !NOT_SHOWN.includes(name))
  return names
    .filter(name => !isDeepStrictEqual(before?.[name], after?.[name]))
    .map(name => {
      const [old, now] = [before?.[name], after?.[name]]
      if (isFields(old) && isFields(now)) return differencesOf(old, now, `${path}${name}.`)
      return `${path}${name}: ${inJson(old)} → ${inJson(now)}`
    })
    .join(', ')
}

/** Reads fields as Postgres writes them: ids become bigints, which are exact and are strings in our JSON. */
export function fieldsFrom(json: string | null): Fields | null {
  if (json === null) return null
  const fields = parseLossless(json) as Record<string, unknown>
  for (const [name, value] of Object.entries(fields)) {
    if (IDS.has(name) && typeof value === 'number') fields[name] = BigInt(value)
  }
  return fields
}

const IDS = new Set(['id', 'account_id', 'folder_id', 'creator_id', 'updater_id', 'team_id', 'created_by'])

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function inJson(value: unknown): string {
  if (value === undefined) return 'none'
  return typeof value === 'bigint' ? `${value}` : JSON.stringify(value, (_, part) => asText(part))
}

function asText(part: unknown): unknown {
  return typeof part === 'bigint' ? `${part}` : part
}
