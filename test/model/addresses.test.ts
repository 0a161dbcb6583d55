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
