import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CONTROLS, type Controlled } from './controls.ts'
import { parseJson, stringIdsJson } from './json.ts'

/**
 * The way into a sandbox from another process: `POST /_sandbox/NAME`, with the fields of that name in
 * `controls.ts` as a JSON body (none is `{}`).
 *
 * Answers 200 with the result as JSON, ids as strings; 400, 403 or 404 with `{"error"}`. It is no part of the
 * platform: no envelope, no key, never counted by the limits, never seen in `received`. Only the machine
 * itself may ask.
 */
export function registerControl(app: FastifyInstance, sandbox: Controlled): void {
  app.post('/_sandbox/:name', (request, reply) => {
    const { status, result } = obey(sandbox, request)
    return reply.code(status).type('application/json').send(stringIdsJson(result))
  })
}

function obey(sandbox: Controlled, request: FastifyRequest): { status: number; result: unknown } {
  if (!isLoopback(request.socket.remoteAddress)) {
    return { status: 403, result: { error: 'The sandbox is controlled from its own machine only.' } }
  }
  const { name } = request.params as { name: string }
  const control = Object.hasOwn(CONTROLS, name) ? CONTROLS[name] : undefined
  if (control === undefined) {
    return {
      status: 404,
      result: { error: `The sandbox has no control ${name}: ${Object.keys(CONTROLS).join(', ')}` },
    }
  }
  try {
    return { status: 200, result: control(sandbox, fieldsOf(request.body)) }
  } catch (error) {
    return { status: 400, result: { error: error instanceof Error ? error.message : String(error) } }
  }
}

function fieldsOf(body: unknown): unknown {
  if (body === null) throw new Error('The body is longer than the sandbox takes (maxBodyBytes).')
  try {
    return parseJson((body as string | undefined) || '{}')
  } catch (error) {
    throw new Error(`The body is not JSON: ${error instanceof Error ? error.message : error}`)
  }
}

export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (address === '::1' || /^(::ffff:)?127\./.test(address))
}
