import { createRequire } from 'node:module'
import type * as Undici from 'undici'

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
