import { z } from 'zod'
import { isInBounds, parseAge, parseInstant } from '#src/model/instant.ts'
import { inZone } from './values.ts'

/** An instant in an address: a date or a time in this zone, as a form sends it, a time with its offset, or an age such as `24h`. */
export function instantIn(zone: string): z.ZodType<Date> {
  return z.string().transform((text, context) => {
    const at = parseAge(text) ?? parseInstant(text, zone)
    if (at && isInBounds(at)) return at
    context.addIssue({
      code: 'custom',
      message: 'write a time such as 2026-11-20T03:30, or an age such as 24h',
    })
    return z.NEVER
  })
}

/** How the field of a form writes the instant in an address; empty if there is none. */
export function instantOfField(text: string | null, zone: string): string {
  const { data: at } = instantIn(zone).safeParse(text)
  return at ? inZone(at, zone).replace(' ', 'T').slice(0, 'YYYY-MM-DDTHH:MM'.length) : ''
}
