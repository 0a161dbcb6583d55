import { isDeepStrictEqual } from 'node:util'
import { ID_FIELDS } from '#src/model/contract-fields.ts'
import { parseLossless } from '#src/platform/lossless-json.ts'

/** The fields of a rule or server, or those that differ. */
export type Fields = Readonly<Record<string, unknown>>

/** One value that differs. `undefined`: it is not there on that side. */
export type Difference = { readonly field: string; readonly before: unknown; readonly after: unknown }

/** Others show who changed it and when. */
const NOT_SHOWN = ['updater_id', 'updater_name', 'updated_at']

/** The values that differ, those in labels and lists one by one: `labels.severity`, `tools.0.description`. */
export function differencesBetween(before: Fields | null, after: Fields | null, path = ''): Difference[] {
  return Object.keys({ ...before, ...after })
    .filter(name => path !== '' || !NOT_SHOWN.includes(name))
    .filter(name => !isDeepStrictEqual(fieldOf(before, name), fieldOf(after, name)))
    .flatMap(name => {
      const [old, now] = [fieldOf(before, name), fieldOf(after, name)]
      const field = path + name
      if (isFields(old) && isFields(now)) return differencesBetween(old, now, `${field}.`)
      return [{ field, before: old, after: now }]
    })
}

/** A label may have the name of something that every object inherits. */
function fieldOf(fields: Fields | null, name: string): unknown {
  return fields && Object.hasOwn(fields, name) ? fields[name] : undefined
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

/** A value in words: texts with quotes, everything else as JSON. */
export function valueInWords(value: unknown): string {
  if (value === undefined) return 'none'
  return typeof value === 'bigint' ? `${value}` : JSON.stringify(value, (_, part) => asText(part))
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function asText(part: unknown): unknown {
  return typeof part === 'bigint' ? `${part}` : part
}
