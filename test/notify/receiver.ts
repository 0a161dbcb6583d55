import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { Webhook } from 'standardwebhooks'

/** A request that a receiver got. */
export type Received = {
  readonly path: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string
}

export type Receiver = AsyncDisposable & {
  readonly url: string
  readonly received: Received[]
  /** How it answers; 200 at first. */
  answer: (response: ServerResponse) => void
  /** The messages it got, in their order, each checked by the library of Standard Webhooks. Throws for a wrong signature. */
  messages(): Message[]
}

export type Message = {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly data: Record<string, unknown>
}

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** A receiver of webhooks on this machine; with `tls`, on https with that certificate. */
export async function openReceiver(tls?: SecureContextOptions): Promise<Receiver> {
  const received: Received[] = []
  const receiver = {
    url: '',
    received,
    answer: (response: ServerResponse) => void response.end(),
    messages: () => received.map(verify),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(done => server.close(done))
    },
  }
  const listener: RequestListener = (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', text => {
      body += text
    })
    request.on('end', () => {
      const { url: path = '', method = '' } = request
      received.push({ path, method, headers: request.headers as Record<string, string>, body })
      receiver.answer(response)
    })
  }
  const server = tls ? createSecureServer(tls, listener) : createServer(listener)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  receiver.url = `http${tls ? 's' : ''}://127.0.0.1:${(server.address() as AddressInfo).port}/hook?for=ferry`
  return receiver
}

function verify({ headers, body }: Received): Message {
  const payload = new Webhook(SECRET).verify(body, headers) as Omit<Message, 'id'>
  return { ...payload, id: headers['webhook-id'] ?? '' }
}

/** An answer with this status. */
export function status(code: number, headers: Record<string, string> = {}) {
  return (response: ServerResponse) => void response.writeHead(code, headers).end()
}
