import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ALERT_RULE, type AlertRule } from '#src/model/alert-rule.ts'
import type { Operation } from '#src/model/call.ts'
import { type Fields, fieldsOf } from '#src/model/fields.ts'
import { isLoopback } from '#src/model/loopback.ts'
import { MCP_SERVER, type McpServer } from '#src/model/mcp-server.ts'
import { OPERATIONS } from '#src/platform/operations.ts'
import { Fault } from './faults.ts'
import { parseJson, pathOf, stringIdsJson, Uint64 } from './json.ts'
import { PERMISSIONS } from './keys.ts'
import { CONTRACT_LIMITS } from './limits.ts'
import { MUTATIONS } from './mutate.ts'
import type { SandboxState } from './state.ts'

/** The parts of the sandbox that admin commands change. */
export type AdminTarget = { readonly state: SandboxState; reset(): void }

/**
 * Lets another process change a sandbox and read from it: `POST /_sandbox/NAME`, with the fields that
 * `ADMIN_COMMANDS` gives for that name as a JSON body (an empty body is `{}`).
 *
 * Answers 200 with the result as JSON, ids as strings; or 400, 403 or 404 with `{"error"}`. The platform has no such
 * paths: they have no envelope, need no key, count for no limit and are not in `received`. Only a process of the same
 * machine may call them.
 */
export function registerAdmin(app: FastifyInstance, sandbox: AdminTarget): void {
  app.post('/_sandbox/:name', (request, reply) => {
    const { status, result } = runCommand(sandbox, request)
    return reply.code(status).type('application/json').send(stringIdsJson(result))
  })
}

function runCommand(sandbox: AdminTarget, request: FastifyRequest): { status: number; result: unknown } {
  if (!isLoopback(request.socket.remoteAddress ?? '')) {
    return { status: 403, result: { error: 'Only a process on the same machine may use /_sandbox.' } }
  }
  const { name } = request.params as { name: string }
  const command = Object.hasOwn(ADMIN_COMMANDS, name) ? ADMIN_COMMANDS[name] : undefined
  if (command === undefined) {
    return {
      status: 404,
      result: {
        error: `/_sandbox has no command ${name}. The commands are ${Object.keys(ADMIN_COMMANDS).join(', ')}.`,
      },
    }
  }
  try {
    return { status: 200, result: command(sandbox, readFields(request.body)) }
  } catch (error) {
    return { status: 400, result: { error: error instanceof Error ? error.message : String(error) } }
  }
}

function readFields(body: unknown): unknown {
  if (body === null) throw new Error('The body is longer than the sandbox accepts (maxBodyBytes).')
  try {
    return parseJson((body as string | undefined) || '{}')
  } catch (error) {
    throw new Error(`The body is not JSON: ${error instanceof Error ? error.message : error}`)
  }
}

const AnOperation = z.enum(Object.keys(OPERATIONS) as [Operation, ...Operation[]])

/** A large integer may be written as a string, as Ferry's own JSON does. */
const Id = z.union([Uint64, z.string().regex(/^\d+$/).transform(BigInt)])

/** Fields not named here are not checked, so that a test can give a row a wrong type. */
const RuleFields = looseFields(ALERT_RULE.fields).transform(fields => fields as Partial<AlertRule<bigint>>)
const ServerFields = looseFields(MCP_SERVER.fields).transform(fields => fields as Partial<McpServer<bigint>>)

function looseFields(fields: Fields) {
  const integers = fieldsOf(fields, 'uint64', 'id64', 'int64')
  return z.looseObject(Object.fromEntries(integers.map(name => [name, Id.exactOptional()])))
}

/** Bounded: the sandbox answers no other call until it has made them, and keeps them in memory. */
function countFrom(least: number, most: number) {
  const words = `write a whole number from ${least} to ${most}`
  return z.number().refine(count => Number.isInteger(count) && count >= least && count <= most, words)
}

const LatencyMs = z.union([z.number(), z.tuple([z.number(), z.number()])])
const Windows = z.array(z.strictObject({ max: z.int().min(1), windowMs: z.number() }))
const List = { pageId: Id, method: z.string().default('email') }

/**
 * The commands with which another process controls a sandbox. Each takes the fields shown, as JSON.
 *
 * `reset` starts again from the sample data. `settings` changes only what the body names.
 */
export const ADMIN_COMMANDS: Readonly<Record<string, AdminCommand>> = {
  'add-rule': command(
    { fields: RuleFields.optional(), index: z.int().optional() },
    (state, { fields, index }) => state.addRule(fields, index),
  ),
  'change-rule': command({ id: Id, patch: RuleFields }, (state, { id, patch }) =>
    state.changeRule(id, patch),
  ),
  'remove-rule': command({ id: Id }, (state, { id }) => state.removeRule(id)),
  'add-server': command(
    { fields: ServerFields.optional(), index: z.int().optional() },
    (state, { fields, index }) => state.addServer(fields, index),
  ),
  'change-server': command({ id: z.string(), patch: ServerFields }, (state, { id, patch }) =>
    state.changeServer(id, patch),
  ),
  'remove-server': command({ id: z.string() }, (state, { id }) => state.removeServer(id)),
  'add-samples': command(
    { rules: countFrom(0, 200_000).exactOptional(), servers: countFrom(0, 10_000).exactOptional() },
    (state, more) => state.addSamples(more),
  ),
  'replace-rules-body': command({ data: z.string().nullable() }, (state, { data }) =>
    state.replaceRulesBody(data),
  ),
  'replace-servers-body': command({ data: z.string().nullable() }, (state, { data }) =>
    state.replaceServersBody(data),
  ),
  reorder: command({ seed: z.int(), keepsFields: z.boolean().optional() }, (state, { seed, keepsFields }) =>
    state.reorder(seed, keepsFields),
  ),
  mutate: command(
    { count: countFrom(1, 100_000), mix: z.array(z.enum(MUTATIONS)).min(1).optional() },
    (state, { count, mix }) => state.mutate(count, mix),
  ),
  'add-page': command({ pageId: Id }, (state, { pageId }) => state.subscribers.addPage(pageId)),
  'list-subscribers': command(List, (state, { pageId, method }) => state.subscribers.list(pageId, method)),
  'count-subscribers': command(List, (state, { pageId, method }) => state.subscribers.count(pageId, method)),
  'add-key': command(
    {
      key: z.string(),
      accountId: Id.exactOptional(),
      permissions: z.array(z.enum(PERMISSIONS)).exactOptional(),
      expiresAt: z.coerce.date().nullable().exactOptional(),
    },
    (state, key) => state.addKey(key),
  ),
  inject: command(
    {
      fault: Fault,
      operation: AnOperation.optional(),
      nth: z.int().min(1).optional(),
      every: z.int().min(1).optional(),
    },
    (state, { fault, ...when }) => state.inject(fault, when),
  ),
  'clear-faults': command({}, state => state.clearFaults()),
  settings: command(
    {
      arriveMs: LatencyMs.exactOptional(),
      answerMs: LatencyMs.exactOptional(),
      limits: z.partialRecord(AnOperation, Windows).exactOptional(),
      retryAfter: z.boolean().exactOptional(),
      maxSubscribers: z.int().nullable().exactOptional(),
      freezeTotalAt: z.int().nullable().exactOptional(),
      emptyAsNull: z.boolean().exactOptional(),
    },
    (state, { limits, ...settings }) => {
      Object.assign(state, settings, limits && { limits: { ...CONTRACT_LIMITS, ...limits } })
    },
  ),
  received: command({ operation: AnOperation.optional() }, (state, { operation }) =>
    state.received.filter(call => operation === undefined || call.operation === operation),
  ),
  'most-in-any-window': command(
    { operation: AnOperation, windowMs: z.number() },
    (state, { operation, windowMs }) => state.maxInAnyWindow(operation, windowMs),
  ),
  counts: command({}, state => ({
    rules: state.rules.size,
    servers: state.servers.size,
    received: state.received.length,
  })),
  reset: command({}, (_state, _fields, sandbox) => sandbox.reset()),
}

type AdminCommand = (sandbox: AdminTarget, body: unknown) => unknown

function command<Fields extends z.ZodRawShape>(
  fields: Fields,
  act: (
    state: SandboxState,
    fields: z.output<z.ZodObject<Fields, z.core.$strict>>,
    sandbox: AdminTarget,
  ) => unknown,
): AdminCommand {
  const shape = z.strictObject(fields)
  return (sandbox, body) => {
    const read = shape.safeParse(body)
    if (!read.success) throw new Error(describeMistakes(read.error, Object.keys(fields)))
    return act(sandbox.state, read.data, sandbox)
  }
}

/** Every mistake in a body, each with the name of its field. */
function describeMistakes({ issues }: z.ZodError, fields: readonly string[]): string {
  const known = fields.length === 0 ? 'this command takes no fields' : `the fields are ${fields.join(', ')}`
  const words = issues.map(issue => {
    const where = pathOf(issue.path)
    if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
      return `there is no field ${issue.keys.join(', ')}: ${known}`
    }
    return `${where}: ${issue.message.replace(/^Invalid input: /, '')}`
  })
  return `This command cannot use the body. ${words.join('; ')}.`
}
