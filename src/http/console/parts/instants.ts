import { z } from 'zod'
import { parseInstant } from '#src/model/instant.ts'
import { BadQuery } from '../page.ts'
import { inZone } from './values.ts'

/** An instant in an address: a date or a time in this zone, as a form sends it, or a time with its offset. */
export function instantIn(zone: string): z.ZodType<Date> {
  return z.string().transform((text, context) => {
    const at = parseInstant(text, zone)
    if (at) return at
    context.addIssue({ code: 'custom', message: 'write a time such as 2026-11-20T03:30' })
    return z.NEVER
  })
}

/**
 * The zone of the times in an address: the reader's, which the script of the page adds to its forms as `zone`, or else that
 * of the settings. Throws `BadQuery` if there is no such zone.
 */
export function zoneOf(query: URLSearchParams, timezone: string): string {
  const zone = query.get('zone')
  if (!zone) return timezone
  try {
    // One spelling for each zone, whatever the address has.
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  } catch (cause) {
    throw new BadQuery('The address is wrong: zone: write a time zone such as Europe/Berlin.', { cause })
  }
}

/** The instant that a field of a form begins with, and how the field writes it; null if there is none. */
export function instantOfField(text: string | null, zone: string): { at: Date; local: string } | null {
  const { data: at } = instantIn(zone).safeParse(text)
  if (!at) return null
  return { at, local: inZone(at, zone).replace(' ', 'T').slice(0, 'YYYY-MM-DDTHH:MM'.length) }
}
