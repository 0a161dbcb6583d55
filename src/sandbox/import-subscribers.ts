import { z } from 'zod'
import type { Result } from './answer.ts'
import { readBody, Uint64 } from './body.ts'
import { refuse } from './errors.ts'
import { Payload } from './payload.ts'
import type { SandboxState } from './state.ts'

/** The contract shows only `email`; the platform is known to use `im` as well. */
const METHODS = ['email', 'im'] as const

const Subscriber = z
  .object({
    recipient: z.string('must be a string').min(1, 'must not be empty'),
    all: z.boolean('must be true or false'),
    component_ids: z.array(z.string('must be a string').min(1, 'must not be empty')).default([]),
    locale: z.string('must be a string').regex(/^[a-z]{2,3}-([A-Z]{2}|\d{3})$/, 'must look like en-US'),
  })
  .refine(({ all, component_ids }) => all || component_ids.length > 0, {
    path: ['component_ids'],
    error: 'must name at least one component when all is false',
  })

const ImportBody = z
  .object({
    page_id: Uint64,
    method: z.enum(METHODS, 'must be a known subscription channel'),
    subscribers: z.array(Subscriber).min(1, 'must not be empty'),
  })
  .superRefine(({ method, subscribers }, context) => {
    if (method !== 'email') return
    for (const [index, { recipient }] of subscribers.entries()) {
      if (isEmailAddress(recipient)) continue
      const message = `${JSON.stringify(recipient)} is not an e-mail address`
      context.addIssue({ code: 'custom', path: ['subscribers', index, 'recipient'], message })
    }
  })

/** Section 4.2: subscribes every recipient in the body, or none if one item is wrong. */
export function importSubscribers(state: SandboxState, body: unknown): Result {
  const read = readBody(ImportBody, body)
  if (!read.ok) return read
  const { page_id: pageId, method, subscribers } = read.fields
  if (!state.subscribers.hasPage(pageId)) {
    return refuse('ResourceNotFound', `Status page ${pageId} does not exist.`)
  }
  if (state.maxSubscribers !== null && subscribers.length > state.maxSubscribers) {
    return refuse('EntityTooLarge')
  }
  for (const { recipient, all, component_ids: componentIds, locale } of subscribers) {
    state.subscribers.deliver(pageId, method, recipient, {
      all,
      componentIds: all ? [] : componentIds,
      locale,
    })
  }
  return { ok: true, data: [new Payload('{}')] }
}

/** The body with only the first half of its subscribers, rounded up; any other body unchanged. */
export function firstHalf(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('subscribers' in body)) return body
  const { subscribers } = body
  if (!Array.isArray(subscribers)) return body
  return { ...body, subscribers: subscribers.slice(0, Math.ceil(subscribers.length / 2)) }
}

/** Less strict than a mail server's rules, as a platform's check is. */
function isEmailAddress(text: string): boolean {
  return text.length <= 255 && /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text)
}
