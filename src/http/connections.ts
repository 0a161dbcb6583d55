import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { isIPv6, type Socket } from 'node:net'

/*
 * So that a probe is always answered, a new connection always gets in. Above a limit another one is closed for it: of the
 * same address if that has its share, else of any. It is the one that has sent no request for longest; one whose request is
 * being answered goes only if all are.
 *
 * How long an answer takes is up to this process: a client that sends half a request, or reads nothing, is not waiting for
 * an answer.
 */

/** More than a system lets wait to be accepted at once (511), so that a probe among many new ones is read before it is closed. */
const MAX_CONNECTIONS = 1_000
/** Behind a proxy all people, and sometimes the probes, have one address. */
const MAX_OF_ONE_ADDRESS = 600

type Connection = {
  readonly network: string
  /** The last request, until its answer was read. */
  last: { readonly request: IncomingMessage; readonly response: ServerResponse } | null
}

/** Bounds the connections of a server. None is refused. */
export function boundConnections(server: Server): void {
  /** The one that sent its last request first, or was opened then, stands first. */
  const connections = new Map<Socket, Connection>()
  const counts = new Map<string, number>()

  function count(network: string, step: 1 | -1): number {
    const now = (counts.get(network) ?? 0) + step
    if (now === 0) counts.delete(network)
    else counts.set(network, now)
    return now
  }

  function forget(socket: Socket): void {
    const connection = connections.get(socket)
    if (connections.delete(socket) && connection) count(connection.network, -1)
  }

  function closeOne(among: (connection: Connection) => boolean): void {
    const all = [...connections].filter(([, connection]) => among(connection))
    const [socket] = all.find(([, connection]) => !isBeingAnswered(connection)) ?? all[0] ?? []
    if (!socket) return
    forget(socket)
    socket.destroy()
  }

  server.on('connection', socket => {
    const network = networkOf(socket.remoteAddress)
    if (count(network, 1) > MAX_OF_ONE_ADDRESS) closeOne(other => other.network === network)
    else if (connections.size >= MAX_CONNECTIONS) closeOne(() => true)
    connections.set(socket, { network, last: null })
    socket.once('close', () => forget(socket))
  })
  server.on('request', (request, response) => {
    const connection = connections.get(request.socket)
    if (!connection) return
    const exchange = { request, response }
    connection.last = exchange
    response.once('close', () => {
      if (connection.last === exchange) connection.last = null
    })
    connections.delete(request.socket)
    connections.set(request.socket, connection)
  })
}

function isBeingAnswered({ last }: Connection): boolean {
  return last?.request.complete === true && !last.response.writableEnded
}

/**
 * The key under which an address is counted: the address itself, or of IPv6 its first 64 bits, since a single
 * machine usually has all addresses that begin with them. An IPv4 address inside an IPv6 one is itself.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped) return mapped
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return address
  const [before = '', after] = plain.split('::')
  const groups = before === '' ? [] : before.split(':')
  const rest = after ? after.split(':') : []
  const zeros = after === undefined ? 0 : 8 - groups.length - rest.length
  const all = [...groups, ...Array<string>(zeros).fill('0'), ...rest]
  return `${all
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
