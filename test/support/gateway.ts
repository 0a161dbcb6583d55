import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers instead of the platform, which has taken the call already. */
export type InsteadOf = (response: ServerResponse) => void

/**
 * A gateway before a platform: it passes every call on, and its answer back. `insteadOf` may give an answer of the gateway's
 * own for the n-th call, counted from 1; it is given once the platform has answered, or with `isEarly` before it has the call.
 */
export async function openGateway(
  upstream: string,
  insteadOf: (n: number) => InsteadOf | null,
  { isEarly = false } = {},
) {
  let calls = 0
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    calls += 1
    const instead = insteadOf(calls)
    if (instead && isEarly) instead(response)
    const answer = await fetch(new URL(request.url ?? '', upstream), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.concat(chunks),
    })
    const body = await answer.text()
    if (instead) return isEarly ? undefined : instead(response)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
