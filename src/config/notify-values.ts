import { closest } from 'fastest-levenshtein'
import { z } from 'zod'
import { EVENT_KINDS, type EventKind } from '../model/event.ts'
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

/** Kinds of events separated by commas, or `all`. */
export const EventKinds = z.string().transform((value, context): readonly EventKind[] => {
  const names = new Set(value.split(',').map(name => name.trim()))
  if (names.size === 1 && names.has('all')) return EVENT_KINDS
  const unknown = [...names].filter(name => !EVENT_KINDS.some(kind => kind === name))
  for (const name of unknown) {
    context.addIssue(
      `${quoted(name)} is not an event; did you mean ${closest(name, EVENT_KINDS)}? Write all, or some of ${EVENT_KINDS.join(', ')}`,
    )
  }
  return EVENT_KINDS.filter(kind => names.has(kind))
})
