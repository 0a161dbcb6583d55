import { AnswerTooLarge } from './read-body.ts'
/** A failure below HTTP. The words are Ferry's own: the message of an error could quote the address, and so the key. */
export type NetworkFault = {
  /** `certificate`: nothing reached the platform. `too-large`: the rest of its answer was not read. */
  readonly kind: 'network' | 'proxy-auth' | 'certificate' | 'too-large'
  readonly words: string
}

/** Describes an error of the HTTP client. */
export function faultOf(error: unknown): NetworkFault {
  const proxyStatus = statusOfProxy(error)
  if (proxyStatus === 407)
    return {
      kind: 'proxy-auth',
      words: 'the proxy requires a user and a password, or refuses the ones it got (HTTP 407)',
    }
  if (proxyStatus !== null) return network(`the proxy did not connect (HTTP ${proxyStatus})`)
  if (error instanceof AnswerTooLarge) return { kind: 'too-large', words: error.message }
  const code = codeOf(error)
  if (code === null) return network('an unknown fault')
  if (NOT_TLS.has(code)) return network(`this port does not speak TLS; it may be plain http (${code})`)
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
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  ETIMEDOUT: 'no connection was made in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection was made in time',
  UND_ERR_ABORTED: 'the connection was aborted',
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
  CERT_NOT_YET_VALID: "it is not valid yet by this machine's clock",
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'it is signed by an authority that this machine does not trust',
}

function certificateWords(code: string): string | null {
  if (CERTIFICATES[code] !== undefined) return CERTIFICATES[code]
  if (/^UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/.test(code))
    return 'it is signed by an authority that this machine does not trust'
  return /CERT|SIGNATURE|ISSUER/.test(code) ? 'it was not accepted' : null
}

function wordsByPrefix(code: string): string {
  if (/SSL|TLS|EPROTO/.test(code)) return 'no secure connection could be made'
  if (code.startsWith('HPE_')) return 'the answer is not HTTP'
  return 'the connection failed'
}

function network(words: string): NetworkFault {
  return { kind: 'network', words }
}

/** undici reports a proxy's answer to CONNECT only in the message of its error. */
function statusOfProxy(error: unknown): number | null {
  if (!(error instanceof Error)) return null
  const [, tunnel, plain] =
    /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((\d{3})\)/.exec(error.message) ?? []
  const status = tunnel ?? plain
  return status === undefined ? statusOfProxy(error.cause) : Number(status)
}

/** Returns the code of the innermost error that has one. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const deeper = error instanceof AggregateError ? error.errors[0] : error.cause
  const code = 'code' in error ? error.code : null
  return codeOf(deeper) ?? (typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code) ? code : null)
}
