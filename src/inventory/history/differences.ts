import { isDeepStrictEqual } from 'node:util'
import { EDIT_FIELDS, ID_FIELDS, OUTSIDE_BASIC_VIEW } from '#src/model/declarations.ts'
import { parseLossless } from '#src/platform/lossless-json.ts'

/** The fields of a rule or server, or those that differ. */
export type Fields = Readonly<Record<string, unknown>>

/** One value that differs. `undefined`: it is not there on that side. */
export type Difference = { readonly field: string; readonly before: unknown; readonly after: unknown }

/**
 * The values that differ: those in labels one by one, `labels.severity`, and tools by their names, `tools.search`. Who changed it
 * and when is shown beside them.
 */
export function differencesBetween(before: Fields | null, after: Fields | null): Difference[] {
  const shown = (fields: Fields | null) =>
    fields && Object.fromEntries(Object.entries(fields).filter(([name]) => !EDIT_FIELDS.includes(name)))
  const [oldTools, tools] = [toolsIn(before), toolsIn(after)]
  if (!before || !after || !oldTools || !tools) return valuesThatDiffer(shown(before), shown(after))
  const names = new Set([...oldTools, ...tools].map(nameOf))
  const [old, now] = [byName(oldTools, names), byName(tools, names)]
  // The tools come last: they may be many.
  const { tools: _, ...othersBefore } = before
  const { tools: __, ...othersAfter } = after
  const others = valuesThatDiffer(shown(othersBefore), shown(othersAfter))
  const ofTools = valuesThatDiffer(old, now, 'tools.')
  if (ofTools.length > 0) return [...others, ...ofTools]
  return [...others, { field: 'tools', before: namesIn(old), after: namesIn(now) }]
}

/** The fields that differ, whole, with their values on both sides. */
export function differingFields(before: Fields | null, after: Fields | null): Difference[] {
  return Object.keys({ ...before, ...after })
    .map(field => ({ field, before: fieldOf(before, field), after: fieldOf(after, field) }))
    .filter(one => !isDeepStrictEqual(one.before, one.after))
}

function valuesThatDiffer(before: Fields | null, after: Fields | null, path = ''): Difference[] {
  return differingFields(before, after).flatMap(({ field: name, before: old, after: now }) => {
    const field = path + name
    if (isFields(old) && isFields(now)) return valuesThatDiffer(old, now, `${field}.`)
    return [{ field, before: old, after: now }]
  })
}

/** A label may have the name of something that every object inherits. */
function fieldOf(fields: Fields | null, name: string): unknown {
  return fields && Object.hasOwn(fields, name) ? fields[name] : undefined
}

type Tool = { readonly name?: unknown; readonly description?: unknown } | null

function toolsIn(fields: Fields | null): readonly Tool[] | null {
  return Array.isArray(fields?.tools) ? fields.tools : null
}

function nameOf(tool: Tool): string {
  return `${tool?.name ?? ''}`
}

/** The description of each tool by its name; the second of a name is `name (2)`, unless that is among the names of tools. */
function byName(tools: readonly Tool[], names: ReadonlySet<string>): Fields {
  const seen = new Map<string, number>()
  const entries = tools.map(tool => {
    const name = nameOf(tool)
    let nth = (seen.get(name) ?? 0) + 1
    while (nth > 1 && names.has(`${name} (${nth})`)) nth += 1
    seen.set(name, nth)
    return [nth === 1 ? name : `${name} (${nth})`, `${tool?.description ?? ''}`] as const
  })
  return Object.fromEntries(entries)
}

function namesIn(tools: Fields): string {
  return Object.keys(tools).join(', ')
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

/** The fields that have a value, in words: `status: paused, rows: 3`. */
export function factsInWords(fields: Fields | null): string {
  return Object.entries(fields ?? {})
    .filter(([, value]) => value !== null)
    .map(([field, value]) => `${field}: ${typeof value === 'string' ? value : valueInWords(value)}`)
    .join(', ')
}

/** `enabled: true → false, labels.severity: "warning" → "critical"` */
export function differencesOf(before: Fields | null, after: Fields | null): string {
  const differences = differencesBetween(before, after)
  if (differences.length === 0 && before && after) return OUTSIDE_BASIC_VIEW
  return differences
    .map(({ field, before: old, after: now }) => `${field}: ${valueInWords(old)} → ${valueInWords(now)}`)
    .join(', ')
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function asText(part: unknown): unknown {
  return typeof part === 'bigint' ? `${part}` : part
}
