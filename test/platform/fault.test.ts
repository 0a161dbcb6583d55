import { expect, test } from 'vitest'
import { faultOf } from '#src/platform/fault.ts'

const withCode = (code: string, cause?: Error) => Object.assign(new Error('', { cause }), { code })

test.each([
  ['ECONNREFUSED', 'network', 'the connection was refused (ECONNREFUSED)'],
  ['CERT_HAS_EXPIRED', 'certificate', 'the certificate is not trusted: it has expired (CERT_HAS_EXPIRED)'],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'certificate',
    'it is signed by an authority that this machine does not trust',
  ],
  [
    'UNABLE_TO_GET_ISSUER_CERT',
    'certificate',
    'it is signed by an authority that this machine does not trust',
  ],
  ['CERT_UNTRUSTED', 'certificate', 'the certificate is not trusted: it was not accepted (CERT_UNTRUSTED)'],
  ['CERT_SIGNATURE_FAILURE', 'certificate', 'it was not accepted'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'network', 'this port does not speak TLS; it may be plain http'],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'network', 'no secure connection could be made'],
  ['EPROTO', 'network', 'no secure connection could be made (EPROTO)'],
  ['HPE_INVALID_CONSTANT', 'network', 'the answer is not HTTP (HPE_INVALID_CONSTANT)'],
  ['EWHATEVER', 'network', 'the connection failed (EWHATEVER)'],
] as const)('%s is a fault of the kind %s', (code, kind, words) => {
  expect(faultOf(withCode(code))).toEqual({ kind, words: expect.stringContaining(words) })
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
  const wants = { kind: 'proxy-auth', words: expect.stringContaining('HTTP 407') }
  expect(answered('Proxy response (407) !== 200 when HTTP Tunneling')).toEqual(wants)
  expect(answered('Proxy Authentication Required (407)')).toEqual(wants)
  const refused = { kind: 'network', words: 'the proxy did not connect (HTTP 502)' }
  expect(answered('Proxy response (502) !== 200 when HTTP Tunneling')).toEqual(refused)
})
