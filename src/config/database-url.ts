import { accessSync, constants } from 'node:fs'
import { parameterMistakeIn } from './postgres-parameters.ts'

/*
 * The URL of a Postgres, as libpq reads it. A parameter that Ferry does not support is refused by name: a URL must not mean
 * something else here than in psql.
 */

/** The modes of libpq in which it is certain whether the connection is encrypted. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full', 'no-verify']
const SSL_FILES = ['sslrootcert', 'sslcert', 'sslkey']

/**
 * Returns the URL in a form that every part of Ferry can read, or what is wrong with it. A mistake never contains a part of
 * the URL that may be secret.
 */
export function readPostgresUrl(text: string): { readonly url: string } | { readonly mistake: string } {
  // The host may be a parameter, as it must be for a socket.
  const url =
    URL.parse(text) ?? URL.parse(text.replace('@/', '@localhost/').replace(/@(:\d+)\//, '@localhost$1/'))
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    return /^postgres(ql)?:\/\/[^/]*,/.test(text) ? { mistake: SEVERAL_HOSTS } : { mistake: NOT_A_URL }
  }
  const mistake = mistakeIn(url)
  if (mistake !== null) return { mistake }
  // As in psql: `require` encrypts, and only `verify-ca` and `verify-full` check the certificate.
  const mode = url.searchParams.get('sslmode')
  if (mode !== null && mode !== 'no-verify') url.searchParams.set('uselibpqcompat', 'true')
  return { url: url.href }
}

const NOT_A_URL = 'is not a Postgres URL; write it like postgres://user:password@host:5432/database'
const SEVERAL_HOSTS =
  'names several hosts, but Ferry connects to one; write the name or address that always leads to the primary'

function mistakeIn({ hostname, port: inAddress, searchParams }: URL): string | null {
  if (`${hostname}${searchParams.get('host') ?? ''}${searchParams.get('port') ?? ''}`.includes(','))
    return SEVERAL_HOSTS
  const port = searchParams.get('port') || inAddress
  if (port && !isPort(port)) return `has the port ${port}; write a whole number from 1 to 65535`
  return parameterMistakeIn(searchParams) ?? timeoutMistakeIn(searchParams) ?? sslMistakeIn(searchParams)
}

/** To psql, 0 means to wait for ever. */
function timeoutMistakeIn(parameters: URLSearchParams): string | null {
  const timeout = parameters.get('connect_timeout')
  if (timeout === null || (/^\d{1,4}$/.test(timeout) && Number(timeout) > 0)) return null
  return 'has connect_timeout with a value that Ferry does not support; write whole seconds from 1 to 9999, since Ferry never waits for ever'
}

/** The driver hangs if the port is not a valid one. */
function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535
}

function sslMistakeIn(parameters: URLSearchParams): string | null {
  const mode = parameters.get('sslmode')
  if (mode === 'allow' || mode === 'prefer') {
    return `has sslmode=${mode}, which may connect without encryption; write disable, require, verify-ca or verify-full`
  }
  if (mode !== null && !SSL_MODES.includes(mode)) {
    return 'has an unknown sslmode; write disable, require, verify-ca or verify-full'
  }
  if (parameters.get('sslrootcert') === 'system') {
    return 'has sslrootcert=system; leave it out, and Node uses its own authorities and those of NODE_EXTRA_CA_CERTS'
  }
  if (mode === 'verify-ca' && !parameters.has('sslrootcert')) {
    return 'has sslmode=verify-ca without sslrootcert; name the file with the authority, or write verify-full'
  }
  for (const name of SSL_FILES) {
    const path = parameters.get(name)
    if (path === null) continue
    if (mode === null) return `has ${name} without sslmode; write sslmode=verify-full too`
    if (!isReadable(path)) return `has ${name}=${path}, which cannot be read`
  }
  return null
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}
