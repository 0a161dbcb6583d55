import { z } from 'zod'

const IN_ZONE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?$/

/**
 * An instant in an address: a date or a time in this zone, as a form sends it, or a time with its offset. The label of the
 * field names the zone.
 */
export function instantIn(timezone: string): z.ZodType<Date> {
  return z.string().transform((text, context) => {
    try {
      const at = IN_ZONE.test(text)
        ? Temporal.PlainDateTime.from(text).toZonedDateTime(timezone).toInstant()
        : Temporal.Instant.from(text)
      return new Date(at.epochMilliseconds)
    } catch {
      context.addIssue({ code: 'custom', message: 'write a time such as 2026-11-20T03:30' })
      return z.NEVER
    }
  })
}
