import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodedText, holdsAddress } from '#src/model/addresses.ts'
import { ENCODINGS } from '#test/support/encodings.ts'

const word = fc.stringMatching(/^[a-z0-9]{1,8}$/)
const address = fc.tuple(word, word, word).map(([name, host, top]) => `${name}@${host}.${top}`)

test.for(Object.entries(ENCODINGS))('an address is found %s', ([, encode]) => {
  fc.assert(
    fc.property(address, one => {
      expect(holdsAddress(`The value ${encode(one)} is not valid.`)).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test.for([
  ['%40', '@'],
  ['%e2%82%ac', '€'],
  // No UTF-8: each byte is a character.
  ['ada%E9%40b', 'adaé@b'],
  ['%2540', '@'],
  ['%u0040', '@'],
  ['\\u0040', '@'],
  ['\\u{40}', '@'],
  ['\\u{0001f600}', '\u{1f600}'],
  ['\\x40', '@'],
  ['\\100', '@'],
  ['\\"\\\'\\/\\\\', '"\'/\\'],
  ['&#64;', '@'],
  ['&#064', '@'],
  ['&#x40;', '@'],
  ['&#X0040', '@'],
  ['&#0;', '&#0;'],
  ['&#x110000;', '&#x110000;'],
  ['&COMMAT;&amp;&apos;&dash;&dollar;&equals;&excl;', "@&'-$=!"],
  ['&gt;&hyphen;&lowbar;&lt;&nbsp;&num;&percnt;&period;', '>-_< #%.'],
  ['&plus;&quot;&semi;&shy;&sol;&bsol;', '+";/\\'],
  ['&amp;#64;', '@'],
  ['\uff20', '@'],
  ['\u200b@\u2060\u00ad', '@'],
  ['=40', '=40'],
] as const)('%j is decoded to %j', ([text, decoded]) => {
  expect(decodedText(text)).toBe(decoded)
})

test.for([
  ['in a mail', 'ada=40b.example'],
  ['in a mail, with the end of a line between', 'ad=\r\na=4=\n0b.example'],
  ['in a mail that is no UTF-8', 'ada=E9=40b.example'],
  ...[0, 1, 2, 3].flatMap(skipped => [
    [
      `in base64 behind ${skipped} other characters`,
      `${'x'.repeat(skipped)}${Buffer.from('a@b.c').toString('base64')}`,
    ],
    [
      `in base64url behind ${skipped} other characters`,
      `${'x'.repeat(skipped)}${Buffer.from('ab~@b.c').toString('base64url')}`,
    ],
  ]),
  ['in hexadecimal digits', Buffer.from('a@b.c').toString('hex')],
  ['in hexadecimal digits behind another', `0${Buffer.from('a@b.c').toString('hex')}`],
  ['in Latin-1 in base64', Buffer.from('éa@b.c', 'latin1').toString('base64')],
  ['in base64 three times', thrice('a@b.c')],
] as const)('an address is found %s', ([, text]) => {
  expect(holdsAddress(text)).toBe(true)
})

function thrice(text: string): string {
  return [1, 2, 3].reduce(inner => Buffer.from(inner).toString('base64'), text)
}

test('an address is found in one spelling inside another', () => {
  const encode = fc.constantFrom(...Object.values(ENCODINGS))
  fc.assert(
    fc.property(address, fc.array(encode, { minLength: 1, maxLength: 3 }), (one, all) => {
      const nested = all.reduce((text, next) => next(text), one)
      expect(holdsAddress(`(${nested})`)).toBe(true)
    }),
  )
})

test('a text that was escaped too often to be read counts as one with an address', () => {
  expect(holdsAddress(`%${'25'.repeat(40)}40`)).toBe(true)
})

test('codes, ids and plain words hold no address', () => {
  for (const text of [
    'UndonedOrderExist',
    'RequestTooFrequently',
    'upstream_timeout',
    'Status page 5750613685214 does not exist.',
    '100 % of 20 rows, page=40, &c.',
    'a1b2c3d4-0123-4567-89ab-cdef01234567',
    '01HZXW4Q5V6S7T8R9P0N1M2K3J',
    'b64:aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91',
  ]) {
    expect([text, holdsAddress(text)]).toEqual([text, false])
  }
})

test('a random id hardly ever counts as an address', () => {
  const ids = fc.sample(fc.uint8Array({ minLength: 16, maxLength: 24 }), 2_000)
  const taken = ids.filter(
    bytes =>
      holdsAddress(Buffer.from(bytes).toString('hex')) ||
      holdsAddress(Buffer.from(bytes).toString('base64url')),
  )
  expect(taken.length).toBeLessThan(20)
})

test('decoding ends, and leaves a decoded text as it is', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 60 }), points => {
      const text = String.fromCodePoint(...points)
      expect(decodedText(decodedText(text)).length).toBeLessThanOrEqual(18 * text.length)
    }),
  )
  expect(decodedText('%zz &nothing; \\u12 =4')).toBe('%zz &nothing; \\u12 =4')
})
