import { createRequire } from 'node:module'
import type { LookupFunction } from 'node:net'
import type * as Undici from 'undici'
import type { Dispatcher } from 'undici'

/*
 * The only place that loads undici, and only the parts that Ferry uses. All of it (fetch, WebSocket, caches, mocks) takes
 * another 12 MB of memory in a worker (undici 8.12, Node 26.10), and an idle one may have 150 MB in all. Types may be
 * imported from `undici` itself.
 */
const require = createRequire(import.meta.url)

export const Pool = require('undici/lib/dispatcher/pool.js') as typeof Undici.Pool
export const ProxyAgent = require('undici/lib/dispatcher/proxy-agent.js') as typeof Undici.ProxyAgent

// As undici's index.js does: a dispatcher has its methods from there.
const { prototype } = require('undici/lib/dispatcher/dispatcher.js') as typeof Undici.Dispatcher
Object.assign(prototype, require('undici/lib/api'))

/** The proxy for each scheme of the platform's address, and the hosts that need none, as in `NO_PROXY`. */
export type ProxyChoice = {
  readonly https: string | null
  readonly http: string | null
  readonly except: string | null
}

/** A connection to the platform. */
export type Route = {
  readonly dispatcher: Dispatcher
  /** For messages: hosts, ports and the settings they came from, without passwords. */
  readonly where: string
}

/** Enough for 50 calls a second with answers that take two seconds. */
const MAX_CONNECTIONS = 100
const MAX_CONNECT_MS = 10_000

/**
 * Opens a pool of connections to one origin, through a proxy if one is set for it. `setting` is the setting that holds the
 * address. Connections are kept alive. `lookup` resolves the name of the host, unless a proxy does.
 */
export function openRoute(
  origin: string,
  setting: string,
  proxy: ProxyChoice | undefined,
  requestTimeoutMs: number,
  lookup?: LookupFunction,
): Route {
  const options = {
    connections: MAX_CONNECTIONS,
    connectTimeout: Math.min(MAX_CONNECT_MS, requestTimeoutMs),
    allowH2: false, // see `post`
  }
  const url = new URL(origin)
  const where = `at ${hostAndPort(url)} (${setting})`
  const address = url.protocol === 'https:' ? proxy?.https : proxy?.http
  if (!address || isExcepted(url, proxy?.except ?? '')) {
    return { dispatcher: new Pool(origin, { ...options, ...(lookup && { connect: { lookup } }) }), where }
  }
  const by = `the proxy ${hostAndPort(new URL(address))} (${url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'})`
  return {
    dispatcher: new ProxyAgent({ ...options, uri: address }),
    where: `${where}, through ${by}`,
  }
}

export function hostAndPort({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

/**
 * Whether `NO_PROXY` lists the host of a URL. An entry is a host or a domain with all its hosts (`example.com`,
 * `.example.com`), the hosts of a domain without the domain itself (`*.example.com`), or `*` for all. An entry with a port
 * is for that port only.
 */
export function isExcepted({ protocol, hostname, port }: URL, noProxy: string): boolean {
  const name = plainHost(hostname)
  const number = port || (protocol === 'https:' ? '443' : '80')
  return noProxy.split(/[,\s]+/).some(entry => {
    const [, host = entry, onlyPort] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? []
    if (entry === '' || (onlyPort !== undefined && onlyPort !== number)) return false
    if (host === '*') return true
    const domain = plainHost(host.replace(/^\*?\./, ''))
    return (name === domain && !host.startsWith('*')) || name.endsWith(`.${domain}`)
  })
}

/** Removes the brackets of an IPv6 address and the dot at the end of a fully qualified name. */
function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.+)\]$/, '$1')
    .replace(/(?<=.)\.$/, '')
}
