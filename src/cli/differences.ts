import { isDeepStrictEqual } from 'node:util'
import { ID_FIELDS } from '#src/model/contract-fields.ts'
import { parseLossless } from '#src/platform/lossless-json.ts'

/** The fields of a rule or server, or those that differ. */
export type Fields = Readonly<Record<string, unknown>>

/** Other columns show who changed it and when. */
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

/** Parses fields that Postgres wrote. Ids become bigints, which are exact and are strings in our JSON. */
export function fieldsFrom(json: string | null): Fields | null {
  if (json === null) return null
  const fields = parseLossless(json) as Record<string, unknown>
  for (const [name, value] of Object.entries(fields)) {
    if (ID_FIELDS.has(name) && typeof value === 'number') fields[name] = BigInt(value)
  }
  return fields
}

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
