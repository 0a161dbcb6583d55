import type { LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import { isExcepted } from './no-proxy.ts'
import { Pool, ProxyAgent } from './undici.ts'

/** Proxies by the scheme of the platform's address, and the hosts reached without, as in `NO_PROXY`. */
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
 * address. Connections are kept alive. `lookup` finds the addresses of a host's name, if no proxy does.
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
