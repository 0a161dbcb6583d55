import { z } from 'zod'
import type { McpServer } from '#src/model/mcp-server.ts'
import type { Result } from './answer.ts'
import { refuse } from './errors.ts'
import { Integer, readBody, Uint64, wireJson } from './json.ts'
import type { AppKey } from './keys.ts'
import { Payload } from './payload.ts'
import type { SandboxState } from './state.ts'

/*
 * The work of the three operations of the contract, as sections 4.1 to 4.3 have it.
 */

const RuleListBody = z.object({ folder_id: Uint64.default(0n) })

/** Section 4.1: the account's rules of one folder, or of all for folder 0, in one array. */
export function listRules(state: SandboxState, key: AppKey, body: unknown): Result {
  const read = readBody(RuleListBody, body)
  if (!read.ok) return read
  if (state.rulesBody !== null) return { ok: true, data: [new Payload(state.rulesBody)] }
  const folderId = read.fields.folder_id
  if (folderId !== 0n && !state.folders.has(folderId)) {
    return refuse('ResourceNotFound', `Folder ${folderId} does not exist.`)
  }
  const data = state.rules.listing(
    `${key.accountId} ${folderId}`,
    rule => rule.account_id === key.accountId && (folderId === 0n || rule.folder_id === folderId),
  )
  return { ok: true, data: data.length > 0 ? data : [new Payload(state.emptyAsNull ? 'null' : '[]')] }
}

const ServerListBody = z.object({
  p: Integer.default(1n),
  limit: Integer.optional(),
  include_account: z.boolean().default(true),
})

/**
 * Section 4.3: one page of the account's MCP servers.
 *
 * The contract does not define bounds and the flag. Here a page or size out of bounds is set to the nearest bound,
 * and `include_account: false` leaves out the account-level servers (team 0).
 */
export function listServers(state: SandboxState, key: AppKey, body: unknown): Result {
  const read = readBody(ServerListBody, body)
  if (!read.ok) return read
  if (state.serversBody !== null) return { ok: true, data: [new Payload(state.serversBody)] }
  const { defaultPageSize, maxPageSize } = state.options
  const size = clamp(read.fields.limit ?? BigInt(defaultPageSize), maxPageSize)
  const page = clamp(read.fields.p, Number.MAX_SAFE_INTEGER)
  const withAccount = read.fields.include_account
  const visible = state.servers.chosen(
    `${key.accountId} ${withAccount}`,
    server => server.account_id === key.accountId && (withAccount || server.team_id !== 0n),
  )
  const total = Math.min(visible.length, state.freezeTotalAt ?? visible.length)
  const servers = visible.slice((page - 1) * size, page * size)
  const made = PAGES.getOrInsertComputed(visible, () => new Map())
  const name = `${page} ${size} ${total} ${state.emptyAsNull}`
  return { ok: true, data: [made.getOrInsertComputed(name, () => pageOf(total, servers, state.emptyAsNull))] }
}

/** The pages of a list that were asked for, which are made and compressed once. If a server changes, the list is another object. */
const PAGES = new WeakMap<readonly McpServer[], Map<string, Payload>>()

function pageOf(total: number, servers: readonly McpServer[], emptyAsNull: boolean): Payload {
  const list = emptyAsNull && servers.length === 0 ? 'null' : wireJson(servers)
  return new Payload(`{"total":${total},"servers":${list}}`)
}

function clamp(value: bigint, max: number): number {
  return value < 1n ? 1 : value > BigInt(max) ? max : Number(value)
}

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
