import { z } from 'zod'
import { type Refusal, refuse } from './errors.ts'

const UINT64_MAX = 2n ** 64n - 1n

/** An integer from `parseJson`, always as a bigint. */
export const Uint64 = z.union([z.int().nonnegative().transform(BigInt), z.bigint().min(0n).max(UINT64_MAX)], {
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
