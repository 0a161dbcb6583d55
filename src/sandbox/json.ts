import { z } from 'zod'
import { MAX_UINT64 } from '#src/model/uint64.ts'
import { type Refusal, refuse } from './errors.ts'

/** Functions of Node's JSON that TypeScript's types lack. */
const exactJson = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, at: { source?: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

/**
 * Reads JSON with exact integers: those that a double cannot hold become bigints. Throws SyntaxError.
 * Keys such as `__proto__` are plain data.
 */
export function parseJson(text: string): unknown {
  return exactJson.parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? BigInt(source)
      : value,
  )
}

/**
 * Writes JSON as the platform does: bigints as digits, and without the fields that are null.
 * Lone surrogates and U+0000 are written as escapes.
 */
export function wireJson(value: unknown): string {
  return JSON.stringify(value, (_key, part) => {
    if (part === null) return undefined
    if (typeof part !== 'bigint') return part
    const number = Number(part)
    return Number.isSafeInteger(number) ? number : exactJson.rawJSON(String(part))
  })
}

/** Writes JSON for people and scripts: bigints as strings, because most readers would round them. */
export function stringIdsJson(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, part) => (typeof part === 'bigint' ? String(part) : part))
}

/** An integer from `parseJson`, always as a bigint. */
export const Uint64 = z.union([z.int().nonnegative().transform(BigInt), z.bigint().min(0n).max(MAX_UINT64)], {
  error: 'must be an integer from 0 to 2^64-1',
})

export const Integer = z.union([z.int().transform(BigInt), z.bigint()], { error: 'must be an integer' })

/** Reads a request's body. The refusal names the first wrong field, as the platform does. */
export function readBody<Shape extends z.ZodType>(
  shape: Shape,
  body: unknown,
): { readonly ok: true; readonly fields: z.output<Shape> } | Refusal {
  const read = shape.safeParse(body)
  if (read.success) return { ok: true, fields: read.data }
  const [first] = read.error.issues
  return refuse('InvalidParameter', `${pathOf(first?.path ?? [])}: ${first?.message}`)
}

/** `subscribers[3].locale` */
export function pathOf(path: readonly PropertyKey[]): string {
  const text = path.map(step => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
  return text === '' ? 'body' : text.replace(/^\./, '')
}
