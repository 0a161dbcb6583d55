import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isLoopback } from '#src/model/loopback.ts'
import { ADMIN_COMMANDS, type AdminTarget } from './admin-commands.ts'
import { parseJson, stringIdsJson } from './json.ts'

/**
 * Lets another process change a sandbox and read from it: `POST /_sandbox/NAME`, with the fields that
 * `admin-commands.ts` gives for that name as a JSON body (an empty body is `{}`).
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
    return { status: 200, result: command(sandbox, fieldsOf(request.body)) }
  } catch (error) {
    return { status: 400, result: { error: error instanceof Error ? error.message : String(error) } }
  }
}

function fieldsOf(body: unknown): unknown {
  if (body === null) throw new Error('The body is longer than the sandbox accepts (maxBodyBytes).')
  try {
    return parseJson((body as string | undefined) || '{}')
  } catch (error) {
    throw new Error(`The body is not JSON: ${error instanceof Error ? error.message : error}`)
  }
}
