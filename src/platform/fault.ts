/** What went wrong below HTTP, in words made here: an error's own message might quote the address, and so the key. */
export function faultInWords(error: unknown): string {
  const code = codeOf(error)
  const words = code === null ? 'an unknown fault' : (WORDS[code] ?? wordsByPrefix(code))
  return code === null ? words : `${words} (${code})`
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
  ERR_BUFFER_TOO_LARGE: 'the answer was too large',
}

function wordsByPrefix(code: string): string {
  if (/CERT|SIGNATURE|ISSUER/.test(code)) return 'the certificate was not accepted'
  if (/SSL|TLS|EPROTO/.test(code)) return 'no secure connection came about'
  if (code.startsWith('HPE_')) return 'the answer is not HTTP'
  return 'the connection failed'
}

/** The code nearest to the cause. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const deeper = error instanceof AggregateError ? error.errors[0] : error.cause
  const code = 'code' in error ? error.code : null
  return codeOf(deeper) ?? (typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code) ? code : null)
}
