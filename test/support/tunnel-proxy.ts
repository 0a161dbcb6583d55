import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'

export type TunnelProxy = AsyncDisposable & {
  /** With a user and a password. */
  readonly url: string
  /** What was asked for: `CONNECT host:port` and the credentials. */
  readonly asked: string[]
}

/** A proxy on this machine that builds tunnels; all of them lead to `port` of this machine, whatever was asked for. */
export async function openTunnelProxy(port: number): Promise<TunnelProxy> {
  const asked: string[] = []
  const sockets = new Set<Duplex>()
  const server = createServer((_request, response) => response.writeHead(405).end())
  server.on(
    'connect',
    ({ url, headers }: { url: string; headers: Record<string, string> }, socket: Duplex) => {
      asked.push(`CONNECT ${url} ${headers['proxy-authorization']}`)
      sockets.add(socket.on('error', () => {}))
      const upstream = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        upstream.pipe(socket).pipe(upstream)
      })
      sockets.add(upstream.on('error', () => socket.destroy()))
    },
  )
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://ada:canary-of-the-proxy@127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise(done => server.close(done))
    },
  }
}
