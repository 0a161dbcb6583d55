import { expect, test } from 'vitest'
import { withoutKey } from '#src/platform/without-key.ts'

const KEY = 'Key-of+account/1'
const escaped = [...KEY].map(character => `&#${character.codePointAt(0)};`).join('')
const percents = [...Buffer.from(KEY)].map(byte => `%${byte.toString(16)}`).join('')

test.for([
  ['The key Key-of+account/1 is unknown', 'The key <API_KEY> is unknown'],
  [`?app_key=${encodeURIComponent(KEY)}&x=1`, '?app_key=<API_KEY>&x=1'],
  [`?app_key=Key%2Dof%2Baccount%2f1&x=1`, '?app_key=<API_KEY>&x=1'],
  [`?app_key=${percents} is unknown`, '?app_key=<API_KEY> is unknown'],
  [`the key ${encodeURIComponent(percents)} twice`, 'the key <API_KEY> twice'],
  ['the key KEY-OF+ACCOUNT/1, in other letters', 'the key <API_KEY>, in other letters'],
  [`the key ${escaped} in HTML`, 'the key <API_KEY> in HTML'],
  ['the key \\u004bey-of+account\\/1 in JSON', 'the key <API_KEY> in JSON'],
  [`token ${Buffer.from(`key:${KEY}`).toString('base64')} refused`, 'token <API_KEY> refused'],
  [`token ${Buffer.from(KEY).toString('hex')} refused`, 'token <API_KEY> refused'],
] as const)('a key is removed from %s', ([text, left]) => {
  expect(withoutKey(text, KEY)).toBe(left)
})

test('text without the key stays as it is, escapes and all; a short key is removed only as it is', () => {
  const text = 'Key of account 1 %20 &amp; \\u0041 S2V5IG9mIGFjY291bnQ='
  expect(withoutKey(text, KEY)).toBe(text)
  expect(withoutKey('key KEY', 'key')).toBe('<API_KEY> KEY')
})

test('of a long text the end is kept only if the beginning has no key in another spelling', () => {
  const long = ' and more'.repeat(10_000)
  expect(withoutKey(long + KEY, KEY)).toBe(`${long}<API_KEY>`)
  const shown = withoutKey(percents + long, KEY)
  expect(shown.startsWith('<API_KEY> and more and more')).toBe(true)
  expect(shown.length).toBeLessThanOrEqual(50_000)
})
