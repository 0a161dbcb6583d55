import { z } from 'zod'
import { ALERT_RULE } from '#src/model/alert-rule.ts'
import type { Field, FieldKind, Fields, Integer } from '#src/model/fields.ts'
import { MCP_SERVER } from '#src/model/mcp-server.ts'
import { MAX_UINT64 } from '#src/model/uint64.ts'

/*
 * The platform's contract on the network: which fields must be present, and their types. Undeclared fields are removed,
 * because they may hold secrets. Open value sets (`ds_type`, `transport`, `status`, ...) are plain text.
 *
 * Fields are only checked here. A missing field becomes null when rows are read: a transform in zod takes ten times as long as
 * the check.
 */

const text = z.string({ error: 'must be text' })
const flag = z.boolean({ error: 'must be true or false' })
const uint64 = integer(0n, MAX_UINT64, 'must be an integer from 0 to 2^64-1')
const int64 = integer(-(2n ** 63n), 2n ** 63n - 1n, 'must be an integer from -2^63 to 2^63-1')
/** For ids that the contract does not call signed or unsigned. */
const id64 = integer(-(2n ** 63n), MAX_UINT64, 'must be an integer from -2^63 to 2^64-1')

/** Not z.record, which drops a key named `__proto__`. */
const labels = z.custom<Readonly<Record<string, string>>>(
  isTextByKey,
  'must be an object whose values are text',
)

export const McpToolWire = z.object(
  { name: text.nullish(), description: text.nullish() },
  { error: 'must be an object' },
)
export type McpToolWire = z.infer<typeof McpToolWire>

/** The check of a field of each kind. */
const CHECKS = {
  uint64,
  id64,
  int64,
  text,
  // Postgres cannot index longer texts; a real id has about twenty characters.
  'text id': text.min(1, 'must not be empty').max(500, 'must have at most 500 characters'),
  flag,
  labels,
  tools: z.array(McpToolWire, { error: 'must be an array' }),
} satisfies Record<FieldKind, z.ZodType>

type Checks = typeof CHECKS
type CheckOf<F extends Field> = F extends { isOptional: true }
  ? z.ZodOptional<z.ZodNullable<Checks[F['kind']]>>
  : Checks[F['kind']]

/** AlertRuleBasic, section 2.2. */
export const AlertRuleWire = wireOf(ALERT_RULE.fields)
export type AlertRuleWire = z.infer<typeof AlertRuleWire>

/** MCP server, section 2.4. The contract marks no field as required, but Ferry cannot store a server without its id. */
export const McpServerWire = wireOf(MCP_SERVER.fields)
export type McpServerWire = z.infer<typeof McpServerWire>

function wireOf<F extends Fields>(fields: F) {
  const checks = Object.entries(fields).map(([name, { kind, isOptional }]) => {
    const check = CHECKS[kind]
    return [name, isOptional ? check.nullish() : check]
  })
  return z.object(Object.fromEntries(checks) as { readonly [Name in keyof F]: CheckOf<F[Name]> })
}

/**
 * Rows are checked one by one later, so that a bad row does not cost the good ones. Null is an empty list: the platform's
 * published examples have null where the contract says array.
 */
const rows = z.array(z.unknown(), { error: 'must be an array' }).nullable()

/** The `data` of section 4.1. */
export const AlertRulesData = rows

/** The `data` of section 4.3. */
export const McpPageData = z.object(
  {
    total: z.int({ error: 'must be an integer' }).nonnegative('must not be negative'),
    servers: rows,
  },
  { error: 'must be an object' },
)

/** The `data` of section 4.2 is an empty object, sometimes null. It only has to be present. */
export const ImportData = z.unknown()

/** A blank one is none: it says nothing of who answered. */
const RequestId = z.string().regex(/\S/)

/** Section 2.1, success. Each operation checks its own `data`. */
export const SuccessEnvelope = z.object({ request_id: RequestId })

/** Section 2.1, failure. A 2xx answer with a code other than `OK` is a failure too. */
export const FailureEnvelope = z.object({
  request_id: RequestId.nullish().catch(null),
  error: z.object({ code: z.string().min(1), message: z.string().nullish().catch(null) }),
})

/** One subscriber of an import, section 2.3. */
export const SubscriberWire = z.discriminatedUnion('all', [
  z.object({ recipient: z.string(), all: z.literal(true), locale: z.string() }),
  z.object({
    recipient: z.string(),
    all: z.literal(false),
    component_ids: z.array(z.string()),
    locale: z.string(),
  }),
])
export type SubscriberWire = z.infer<typeof SubscriberWire>

/** The body of an import, section 4.2. */
export const ImportBody = z.object({
  page_id: z.bigint(),
  method: z.string().min(1),
  subscribers: z.array(SubscriberWire),
})
export type ImportBody = z.infer<typeof ImportBody>

/** Whether a value is an unsigned integer of 64 bits, as the ids of rules are. */
export function isUint64(value: unknown): value is Integer {
  return uint64.safeParse(value).success
}

function integer(least: bigint, most: bigint, message: string) {
  const leastNumber = Number(least)
  return z.custom<Integer>(
    value =>
      typeof value === 'number'
        ? Number.isSafeInteger(value) && value >= leastNumber
        : typeof value === 'bigint' && value >= least && value <= most,
    message,
  )
}

function isTextByKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  for (const key in value) if (typeof (value as Record<string, unknown>)[key] !== 'string') return false
  return true
}
