import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type SilentProxy = AsyncDisposable & {
  readonly port: number
  /** The same address by way of the proxy. */
  through(url: string): string
  /**
   * From now on nothing is forwarded in either direction and no socket is closed, so neither side learns of it: as after
   * a failover, or with a NAT that forgot. New connections are accepted and get no answer either.
   */
  fallSilent(): void
  /** From now on every connection is closed, and a new one at once: as while Postgres is stopped. */
  stop(): void
  /** Connections made from now on work; those that fell silent never say anything again. */
  recover(): void
}

/** A TCP proxy on 127.0.0.1 to the host and port of `url` (or to `defaultPort`, if it names none). */
export async function openSilentProxy(url: string, defaultPort: number): Promise<SilentProxy> {
  const { hostname, port } = new URL(url)
  const target = { host: hostname, port: Number(port || defaultPort) }
  const pairs = new Set<readonly Socket[]>()
  let silent = false
  let stopped = false

  const server = createServer(near => {
    if (stopped) return void near.destroy()
    const far = silent ? null : connect(target)
    const pair = far ? [near, far] : [near]
    pairs.add(pair)
    for (const socket of pair) {
      socket.on('error', () => end(pair)).on('close', () => end(pair))
    }
    if (!far) return void near.pause()
    near.pipe(far)
    far.pipe(near)
  })

  /** One side's end is the other's, unless they were cut off from each other: then nobody hears of it. */
  function end(pair: readonly Socket[]): void {
    if (silenced.has(pair) || !pairs.delete(pair)) return
    for (const socket of pair) socket.destroy()
  }
  const silenced = new Set<readonly Socket[]>()

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const own = (server.address() as AddressInfo).port
  return {
    port: own,
    through: url => Object.assign(new URL(url), { host: `127.0.0.1:${own}` }).href,
    fallSilent() {
      silent = true
      for (const pair of pairs) {
        silenced.add(pair)
        for (const socket of pair) socket.unpipe().pause()
      }
    },
    stop() {
      stopped = true
      for (const pair of pairs) end(pair)
    },
    recover() {
      silent = false
      stopped = false
    },
    async [Symbol.asyncDispose]() {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
