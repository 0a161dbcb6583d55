import { expect, test } from 'vitest'
import { createFormTokens, isSameOrigin } from '#src/http/console/forms.ts'
import { Secret } from '#src/model/secret.ts'

const HOUR_MS = 3_600_000
const TOKEN = new Secret('operate-1234567890')

test('a form token is good for its action and for an hour', () => {
  let now = 1_000_000
  const forms = createFormTokens(null, () => now)
  const token = forms.issue('/imports/7/pause')
  expect(forms.isValid('/imports/7/pause', token)).toBe(true)
  for (const other of ['/imports/7/cancel', '/imports/8/pause', '/imports/7/pause/', '']) {
    expect(forms.isValid(other, token)).toBe(false)
  }
  now += HOUR_MS
  expect(forms.isValid('/imports/7/pause', token)).toBe(true)
  now += 1
  expect(forms.isValid('/imports/7/pause', token)).toBe(false)
  now -= 2 * HOUR_MS
  expect(forms.isValid('/imports/7/pause', token)).toBe(false)
})

test('what was changed or made up is no form token', () => {
  const forms = createFormTokens(TOKEN)
  const token = forms.issue('/a')
  const [issued, signature = ''] = token.split('.')
  const changed = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
  for (const wrong of [
    '',
    '.',
    token.slice(1),
    `${token} `,
    `${Number(issued) + 1}.${signature}`,
    `${issued}.${changed}`,
    'é.'.repeat(30),
  ]) {
    expect(forms.isValid('/a', wrong)).toBe(false)
  }
})

test('workers with the same token accept forms of each other, and nobody else does', () => {
  const token = createFormTokens(TOKEN).issue('/a')
  expect(createFormTokens(new Secret(TOKEN.reveal())).isValid('/a', token)).toBe(true)
  expect(createFormTokens(new Secret('another')).isValid('/a', token)).toBe(false)
  expect(createFormTokens(null).isValid('/a', token)).toBe(false)
  expect(createFormTokens(null).isValid('/a', createFormTokens(null).issue('/a'))).toBe(false)
})

const HOST = { host: 'ferry.internal:3377' }

test.each([
  [{ 'sec-fetch-site': 'same-origin' }, true],
  [{ 'sec-fetch-site': 'same-origin', origin: 'https://ferry.internal:3377' }, true],
  [{ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }, false],
  [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, false],
  [{ 'sec-fetch-site': 'same-site' }, false],
  [{ 'sec-fetch-site': 'cross-site', origin: 'http://ferry.internal:3377' }, false],
  [{ 'sec-fetch-site': 'none' }, false],
  [{ origin: 'http://ferry.internal:3377' }, true],
  [{ origin: 'http://FERRY.internal:3377' }, true],
  [{ origin: 'http://ferry.internal' }, false],
  [{ origin: 'http://ferry.internal:3377.evil.example' }, false],
  [{}, false],
  [{ authorization: 'Basic YTpi' }, false],
  [{ authorization: 'Bearer x' }, true],
  [{ authorization: 'Bearer x', origin: 'http://evil.example' }, false],
] as const)('a form with %j is of this origin: %s', (headers, expected) => {
  expect(isSameOrigin({ ...HOST, ...headers })).toBe(expected)
})
