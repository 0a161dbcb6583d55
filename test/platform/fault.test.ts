import { expect, test } from 'vitest'
import { faultOf } from '#src/platform/fault.ts'

const withCode = (code: string, cause?: Error) => Object.assign(new Error('', { cause }), { code })

const UNKNOWN_AUTHORITY = 'it is signed by an authority that this machine does not trust'

test.each([
  ['ECONNREFUSED', 'network', 'the connection was refused'],
  ['ECONNRESET', 'network', 'the connection was reset'],
  ['EPIPE', 'network', 'the connection was closed'],
  ['UND_ERR_SOCKET', 'network', 'the connection was closed'],
  ['ENOTFOUND', 'network', 'the host name is unknown'],
  ['EAI_AGAIN', 'network', 'the host name could not be looked up'],
  ['EHOSTUNREACH', 'network', 'there is no route to the host'],
  ['ENETUNREACH', 'network', 'there is no route to the network'],
  ['ETIMEDOUT', 'network', 'no connection was made in time'],
  ['UND_ERR_CONNECT_TIMEOUT', 'network', 'no connection was made in time'],
  ['UND_ERR_ABORTED', 'network', 'the connection was aborted'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'network', 'the answer was cut short'],
  ['Z_BUF_ERROR', 'network', 'the answer was cut short'],
  ['Z_DATA_ERROR', 'network', 'the answer could not be unpacked'],
  ['CERT_HAS_EXPIRED', 'certificate', 'it has expired'],
  ['CERT_NOT_YET_VALID', 'certificate', "it is not valid yet by this machine's clock"],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate', 'it is for another host'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate', 'it is self-signed'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate', UNKNOWN_AUTHORITY],
  ['UNABLE_TO_GET_ISSUER_CERT', 'certificate', UNKNOWN_AUTHORITY],
  ['CERT_UNTRUSTED', 'certificate', 'it was not accepted'],
  ['CERT_SIGNATURE_FAILURE', 'certificate', 'it was not accepted'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'network', 'this port does not speak TLS; it may be plain http'],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'network', 'this port does not speak TLS; it may be plain http'],
  ['ERR_SSL_HTTP_REQUEST', 'network', 'this port does not speak TLS; it may be plain http'],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'network', 'no secure connection could be made'],
  ['EPROTO', 'network', 'no secure connection could be made'],
  ['HPE_INVALID_CONSTANT', 'network', 'the answer is not HTTP'],
  ['EWHATEVER', 'network', 'the connection failed'],
] as const)('%s is a fault of the kind %s', (code, kind, words) => {
  const what = kind === 'certificate' ? 'the certificate is not trusted: ' : ''
  expect(faultOf(withCode(code))).toEqual({ kind, words: `${what}${words} (${code})` })
})

test('the innermost code says what went wrong, of several addresses the first one', () => {
  const inner = withCode('ENOTFOUND')
  expect(faultOf(withCode('UND_ERR_SOCKET', inner)).words).toContain('(ENOTFOUND)')
  const refused = [withCode('ECONNREFUSED'), withCode('EHOSTUNREACH')]
  expect(faultOf(new Error('', { cause: new AggregateError(refused, '') })).words).toContain('(ECONNREFUSED)')
  expect(faultOf(withCode('ECONNRESET', new Error('no code'))).words).toContain('(ECONNRESET)')
})

test.each([[new Error('https://user:secret@example.com')], ['text'], [withCode('a secret')]])(
  'of what has no code nothing is repeated',
  error => {
    expect(faultOf(error)).toEqual({ kind: 'network', words: 'an unknown fault' })
  },
)

test('what a proxy answers is told apart from what the platform does', () => {
  const answered = (text: string) => faultOf(new Error('', { cause: new Error(text) }))
  const words = 'the proxy requires a user and a password, or refuses the ones it got (HTTP 407)'
  const wants = { kind: 'proxy-auth', words }
  expect(answered('Proxy response (407) !== 200 when HTTP Tunneling')).toEqual(wants)
  expect(answered('Proxy Authentication Required (407)')).toEqual(wants)
  const refused = { kind: 'network', words: 'the proxy did not connect (HTTP 502)' }
  expect(answered('Proxy response (502) !== 200 when HTTP Tunneling')).toEqual(refused)
})
