import type { AddressInfo } from 'node:net'
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { OPERATIONS } from '#src/platform/operations.ts'
import { registerAdmin } from './admin.ts'
import { answerRequest, refuseGarbage, takeAnyBody } from './listener.ts'
import { WORKING_DAY } from './mutate.ts'
import { DEFAULT_OPTIONS, type SandboxOptions } from './options.ts'
import { SandboxState } from './state.ts'

/**
 * The sandbox plays the platform for demos, tests and benches. It follows the contract.
 *
 *   request -> path -> method -> content type -> [arriveMs] -> key -> limit (counted here)
 *           -> hook and faults -> permission -> body -> work -> [answerMs] -> envelope
 *
 * One listener serves the three operations from one `SandboxState`. Code in the same process reads and changes that
 * state directly. Another process on the same machine uses `POST /_sandbox/NAME` with a JSON body; the fields of each
 * name are in `admin.ts` and in docs/sandbox.md:
 *
 *   data      add-rule, change-rule, remove-rule, add-server, change-server, remove-server, add-samples,
 *             replace-rules-body, replace-servers-body, reorder, mutate, reset
 *   imports   add-page, list-subscribers, count-subscribers
 *   behaviour add-key, inject, clear-faults, settings
 *   evidence  received, most-in-any-window, counts
 */
export type Sandbox = AsyncDisposable & {
  /** `http://127.0.0.1:PORT` */
  readonly baseUrl: string
  /** The key with every permission. */
  readonly appKey: string
  /** A new object after each `reset`: read it again then. */
  readonly state: SandboxState
  /** Forgets every call and change, and starts from the sample data again. */
  reset(): void
  /** Ends at once: calls in progress get no answer. */
  close(): Promise<void>
}

/** Starts a sandbox. Options left out come from `DEFAULT_OPTIONS`. */
export async function openSandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const all = { ...DEFAULT_OPTIONS, ...options }
  const closing = new AbortController()
  let state = new SandboxState(all)
  const handle = (request: FastifyRequest, reply: FastifyReply) =>
    answerRequest(sandbox.state, request, reply, closing.signal)
  const app = fastify({
    forceCloseConnections: true,
    clientErrorHandler: refuseGarbage,
    frameworkErrors: (_error, request, reply) => handle(request, reply),
    http: { requireHostHeader: false },
  })
  const sandbox = {
    get state() {
      return state
    },
    reset() {
      state = new SandboxState(all)
    },
  }
  takeAnyBody(app, all.maxBodyBytes)
  registerAdmin(app, sandbox)
  for (const { path } of Object.values(OPERATIONS)) app.post(path, handle)
  app.setNotFoundHandler(handle)
  app.setErrorHandler((_error, request, reply) => handle(request, reply))
  await app.listen({ port: all.port, host: all.host })

  async function close(): Promise<void> {
    closing.abort()
    await app.close()
  }
  const { port } = app.server.address() as AddressInfo
  return Object.assign(sandbox, {
    baseUrl: `http://127.0.0.1:${port}`,
    appKey: all.appKey,
    close,
    [Symbol.asyncDispose]: close,
  })
}

/**
 * Makes one change every `everyMs`, in the order of `WORKING_DAY`: rules and servers are edited, fire, are added and
 * removed, and their number stays about the same. Ends when disposed.
 */
export function openChanges(sandbox: Pick<Sandbox, 'state'>, everyMs: number): Disposable {
  let made = 0
  const timer = setInterval(() => {
    const next = WORKING_DAY[made++ % WORKING_DAY.length]
    if (next !== undefined) sandbox.state.mutate(1, [next])
  }, everyMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
