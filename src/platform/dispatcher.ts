import { type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'

/** Proxies by the scheme of the platform's address, and the hosts reached without, as in `NO_PROXY`. */
export type ProxyChoice = {
  readonly https: string | null
  readonly http: string | null
  readonly except: string | null
}

/** At 50 calls a second it is enough for answers that take two seconds. */
const MOST_CONNECTIONS = 100
const LONGEST_CONNECT_MS = 10_000

/** Opens kept-alive connections to one origin, through a proxy if there is one for it. */
export function openDispatcher(
  origin: string,
  proxy: ProxyChoice | undefined,
  requestTimeoutMs: number,
): Dispatcher {
  const options = {
    connections: MOST_CONNECTIONS,
    connectTimeout: Math.min(LONGEST_CONNECT_MS, requestTimeoutMs),
    allowH2: false, // see `post`
  }
  const address = origin.startsWith('https:') ? proxy?.https : proxy?.http
  if (!address) return new Pool(origin, options)
  // Every name is given, if only as '': undici would read those left out from the environment.
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: address,
    httpsProxy: address,
    noProxy: proxy?.except ?? '',
  })
}
