import { TOO_MUCH } from './answer-size.ts'

/** What went wrong below HTTP, in words made here: an error's own message might quote the address, and so the key. */
export type Fault = {
  /** `proxy-auth` and `certificate`: nothing reached the platform. `too-large`: its answer was not read to the end. */
  readonly kind: 'network' | 'proxy-auth' | 'certificate' | 'too-large'
  readonly words: string
}

export function faultOf(error: unknown): Fault {
  const proxyStatus = statusOfProxy(error)
  if (proxyStatus === 407)
    return { kind: 'proxy-auth', words: 'the proxy wants a user and a password, or other ones (HTTP 407)' }
  if (proxyStatus !== null) return network(`the proxy did not connect (HTTP ${proxyStatus})`)
  const code = codeOf(error)
  if (code === null) return network('an unknown fault')
  if (code === 'ERR_BUFFER_TOO_LARGE') return { kind: 'too-large', words: TOO_MUCH.bytes }
  if (NOT_TLS.has(code)) return network(`this port does not speak TLS, perhaps plain http (${code})`)
  const certificate = certificateWords(code)
  return certificate === null
    ? network(`${WORDS[code] ?? wordsByPrefix(code)} (${code})`)
    : { kind: 'certificate', words: `the certificate is not trusted: ${certificate} (${code})` }
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ENOTFOUND: 'the name of the host is unknown',
  EAI_AGAIN: 'the name of the host could not be looked up',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  ETIMEDOUT: 'there was no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'there was no connection in time',
  UND_ERR_ABORTED: 'the connection was given up',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut short',
  Z_BUF_ERROR: 'the answer was cut short',
  Z_DATA_ERROR: 'the answer could not be unpacked',
}

const NOT_TLS = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
])

const CERTIFICATES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet by the clock of this machine',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'it is signed by an authority that is not known here',
}

function certificateWords(code: string): string | null {
  if (CERTIFICATES[code] !== undefined) return CERTIFICATES[code]
  if (/^UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/.test(code))
    return 'it is signed by an authority that is not known here'
  return /CERT|SIGNATURE|ISSUER/.test(code) ? 'it was not accepted' : null
}

function wordsByPrefix(code: string): string {
  if (/SSL|TLS|EPROTO/.test(code)) return 'no secure connection came about'
  if (code.startsWith('HPE_')) return 'the answer is not HTTP'
  return 'the connection failed'
}

function network(words: string): Fault {
  return { kind: 'network', words }
}

/** undici tells what a proxy answered in place of a connection in the error's words only. */
function statusOfProxy(error: unknown): number | null {
  if (!(error instanceof Error)) return null
  const [, tunnel, plain] =
    /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((\d{3})\)/.exec(error.message) ?? []
  const status = tunnel ?? plain
  return status === undefined ? statusOfProxy(error.cause) : Number(status)
}

/** The code nearest to the cause. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const deeper = error instanceof AggregateError ? error.errors[0] : error.cause
  const code = 'code' in error ? error.code : null
  return codeOf(deeper) ?? (typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code) ? code : null)
}
