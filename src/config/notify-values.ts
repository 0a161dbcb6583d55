import { z } from 'zod'
import { isNot } from '../model/did-you-mean.ts'
import { EVENT_KINDS, type EventKind, RULE_EVENTS, USUAL_EVENTS } from '../model/event.ts'
import { Secret } from '../model/secret.ts'
import { quoted } from './values.ts'

/*
 * How the settings of notifications are written. An address that is called often holds a secret, so no mistake repeats it.
 */

/** An address that Ferry calls to send events or heartbeats. */
export const CallUrl = z.string().transform((value, context) => {
  const address = URL.parse(value.trim())
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:') {
    context.addIssue('is not an http URL; write it like https://hooks.example.com/ferry')
    return z.NEVER
  }
  if (address.username === '' && address.password === '') return value.trim()
  context.addIssue('contains a user or a password; write the address as its provider gave it')
  return z.NEVER
})

const MIN_SECRET_BYTES = 24
const MAX_SECRET_BYTES = 64

/** A secret of Standard Webhooks: the bytes after `whsec_`, in base64. */
export const WebhookSecret = z.string().transform((value, context) => {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(value.trim()) ?? []
  const { length } = Buffer.from(encoded, 'base64')
  if (length >= MIN_SECRET_BYTES && length <= MAX_SECRET_BYTES) return new Secret(encoded)
  context.addIssue(
    `is not a webhook secret; write whsec_ and ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} bytes in base64: ` +
      'echo "whsec_$(openssl rand -base64 32)"',
  )
  return z.NEVER
})

/** A name of an event, or of several. */
const GROUPS: Readonly<Record<string, readonly EventKind[]>> = { all: USUAL_EVENTS, 'rule.*': RULE_EVENTS }
const NAMES = [...Object.keys(GROUPS), ...EVENT_KINDS]

/** Names of events in a list: `all` is all but those of rules, which `rule.*` is. */
export const EventNames = z
  .array(
    z.string().refine(name => NAMES.includes(name), {
      error: ({ input }) => `${quoted(input)} ${isNot('an event', `${input}`, NAMES)}`,
    }),
  )
  .transform((names): readonly EventKind[] => {
    const chosen = new Set(names.flatMap(name => GROUPS[name] ?? name))
    return EVENT_KINDS.filter(kind => chosen.has(kind))
  })

/** The same separated by commas. */
export const EventKinds = z
  .string()
  .transform(value => value.split(',').map(name => name.trim()))
  .pipe(EventNames)

/** A time of the day at which a digest is sent, as a cron expression. */
export const DigestTime = z.string().transform((value, context) => {
  const [, hour, minute] = /^daily at ([01]?\d|2[0-3]):([0-5]\d)$/.exec(value) ?? []
  if (hour !== undefined) return `${Number(minute)} ${Number(hour)} * * *`
  context.addIssue(`${quoted(value)} is not a time of the day; write it like "daily at 08:00"`)
  return z.NEVER
})

/** The address of the console, without a slash at the end. */
export const PublicUrl = z.string().transform((value, context) => {
  const address = URL.parse(value.trim())
  const isHttp = address?.protocol === 'http:' || address?.protocol === 'https:'
  if (isHttp && !address.username && !address.password && !address.search && !address.hash) {
    return address.href.replace(/\/+$/, '')
  }
  context.addIssue('is not the address of a console; write it like https://ferry.example.com')
  return z.NEVER
})
