import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAboutPage, namedIn, withoutRecipients } from '#src/imports/recipient-text.ts'
import { decodedText, holdsAddress } from '#src/model/addresses.ts'
import { ENCODINGS } from '#test/support/encodings.ts'

const people = (...recipients: string[]) =>
  recipients.map((recipient, line) => ({ line: BigInt(line), recipient }))

test.for([
  ['subscribers[3].recipient: "ann@example.com" is not an e-mail address', 'ann@example.com'],
  ["recipient 'ann@example.com' is blocked.", 'ann@example.com'],
  ['ann@example.com', 'ann@example.com'],
  ['blocked: <ann@example.com>', 'ann@example.com'],
  ['blocked: ann@example.com.', 'ann@example.com'],
  ['blocked: ANN@Example.com, and others', 'ann@example.com'],
  ['no "a\\"b@example.com" here', 'a"b@example.com'],
  ['not an address: not an address', 'not an address'],
] as const)('%s names %s', ([message, recipient]) => {
  expect(namedIn(message, people('bob@example.com', recipient))).toEqual([1n])
})

test.for([
  ['joann@example.com is blocked', 'ann@example.com'],
  ['jo.ann@example.com is blocked', 'ann@example.com'],
  ['jo-ann@example.com is blocked', 'ann@example.com'],
  ["o'ann@example.com is blocked", 'ann@example.com'],
  ['ann@example.com.au is blocked', 'ann@example.com'],
  ['ann@example.community is blocked', 'ann@example.com'],
  ['ann@example.com-x.org is blocked', 'ann@example.com'],
  ['Status page 5 does not exist.', 'ann@example.com'],
  ['Anything', ''],
] as const)('%s does not name %s', ([message, recipient]) => {
  expect(namedIn(message, people(recipient))).toEqual([])
})

test('words are shown without anybody in them, of this batch or not, of e-mail or not', () => {
  const message = 'ann@example.com, "Bob Smith" and eve@example.org are blocked; ann@example.com twice.'
  expect(withoutRecipients(message, people('ann@example.com', 'bob smith'))).toBe(
    '<recipient>, "<recipient>" and <recipient> are blocked; <recipient> twice.',
  )
  expect(withoutRecipients('(ann%40example.com) is blocked', people('ann@example.com'))).toBe(
    '(<recipient>) is blocked',
  )
  expect(withoutRecipients('Status page 5 does not exist.', people('ann@example.com'))).toBe(
    'Status page 5 does not exist.',
  )
})

test.for([
  ['Status page 5750613685214 does not exist.', true],
  ['page_id=5750613685214: not found', true],
  ['Status page 57506136852141 does not exist.', false],
  ['Status page does not exist.', false],
  ['ann@example.com is not on page 5750613685214.', false],
  ['Component 01HZX of page 5750613685214 does not exist.', false],
  ['component "01hzx" of page 5750613685214 does not exist.', false],
  ['Component 01HZY of page 5750613685214 does not exist.', true],
] as const)('%s is about the page alone: %s', ([message, isIt]) => {
  const [ann, bob] = people('ann@example.com', 'bob@example.com')
  const rows = [
    { ...ann!, componentIds: [] },
    { ...bob!, componentIds: ['01HZX', ''] },
  ]
  expect(isAboutPage(message, 5750613685214n, rows)).toBe(isIt)
})

const word = fc.stringMatching(/^[a-z0-9]{1,6}$/)
const address = fc.tuple(word, word).map(([name, host]) => `${name}@${host}.example`)
/** What stands around a recipient in messages, on its left and on its right. */
const around = fc.constantFrom(
  ['"', '"'],
  ["'", "'"],
  ['<', '>'],
  ['(', ')'],
  ['', ','],
  [': ', '.'],
  ['=', ' is bad'],
  ['[', ']'],
)

test('whoever is in the words is named, in whatever quotes and case, and then stands in them no more', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(address, { minLength: 1, maxLength: 6 }),
      fc.nat(),
      around,
      fc.boolean(),
      (all, pick, [left, right], shout) => {
        const one = all[pick % all.length]!
        const message = `not valid: ${left}${shout ? one.toUpperCase() : one}${right}`
        expect(namedIn(message, people(...all))).toEqual([BigInt(all.indexOf(one))])
        const shown = withoutRecipients(message, people(...all))
        expect(shown).toContain('<recipient>')
        expect(shown.toLowerCase()).not.toContain(one)
      },
    ),
  )
})

test('nobody is named by being a part of another', () => {
  fc.assert(
    fc.property(
      address,
      fc.stringMatching(/^[a-z0-9_+-]{0,3}[a-z0-9_%+-]$/),
      fc.stringMatching(/^[a-z0-9]{1,3}$/),
      (one, before, after) => {
        for (const longer of [
          before + one,
          one + after,
          `${one}.${after}`,
          `${before}.${one}`.replace(/^[_%+-]+\./, 'x.'),
        ]) {
          // Of %400@example.com, what is decoded has two @.
          if (decodedText(longer) !== longer) continue
          expect(namedIn(`"${longer}" is bad`, people(one))).toEqual([])
          expect(namedIn(`"${longer}" is bad`, people(one, longer))).toEqual([1n])
          expect(withoutRecipients(`"${longer}" is bad`, people(one))).not.toContain('@')
        }
      },
    ),
  )
})

test('words without anybody in them stay as they are', () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), address, (words, one) => {
      const message = `Status page 7 of ${words.join(' ')} does not exist.`
      expect(namedIn(message, people(one))).toEqual([])
      expect(withoutRecipients(message, people(one))).toBe(message)
    }),
  )
})

test('who is named as a whole is found, even after being a part of somebody else', () => {
  const message = 'joann@example.com.au and xann@example.com are fine, ann@example.com is not'
  expect(namedIn(message, people('bob@example.com', 'ann@example.com'))).toEqual([1n])
  expect(withoutRecipients(message, people('ann@example.com'))).not.toContain(' ann@example.com')
})

test.for([
  ['user%40example.com is not valid', 'user@example.com'],
  ['<b>user&#64;example.com</b> is not valid', 'user@example.com'],
  ['{\\"recipient\\":\\"user\\u0040example.com\\"}', 'user@example.com'],
  ['user＠example．com', 'user@example.com'],
  ['user%2540example.com', 'user@example.com'],
  ['jörg@münchen.de is not valid', 'jörg@xn--mnchen-3ya.de'],
  ['jörg@xn--mnchen-3ya.de is not valid', 'jörg@münchen.de'],
] as const)('a recipient in another spelling is named: %s', ([message, recipient]) => {
  expect(namedIn(message, people('bob@example.com', recipient))).toEqual([1n])
})

test.for([
  ['%61bob@example.com is not valid', 'bob@example.com'],
  ['&#97;bob@example.com is not valid', 'bob@example.com'],
  ['bob@example.co\\u006d is not valid', 'bob@example.co'],
  ['a%62c@example.com is not valid', 'a%62c@example.org'],
] as const)('a recipient that is only a part of a decoded one is not named: %s', ([message, recipient]) => {
  expect(namedIn(message, people(recipient))).toEqual([])
})

test('of two recipients that decode to the same, only the one that stands there is named', () => {
  const both = people('a%62c@example.com', 'abc@example.com')
  expect(namedIn('"abc@example.com" is bad', both)).toEqual([1n])
  expect(namedIn('"a%62c@example.com" is bad', both)).toEqual([0n])
})

test('what is kept of a message names nobody, in no spelling, however often it was encoded', () => {
  const encode = fc.constantFrom(...Object.values(ENCODINGS))
  fc.assert(
    fc.property(
      fc.array(address, { minLength: 1, maxLength: 3 }),
      fc.array(encode, { maxLength: 3 }),
      around,
      fc.nat(3_000),
      (all, encodings, [left, right], before) => {
        const encoded = all.map(one => encodings.reduce((text, next) => next(text), one))
        const message = `${'not valid: '.repeat(before / 11)}${encoded.map(one => left + one + right).join(' ')}`
        const shown = withoutRecipients(message, people(...all))
        expect(shown.length).toBeLessThanOrEqual(1_000)
        expect(holdsAddress(shown.replaceAll('<recipient>', ''))).toBe(false)
        for (const one of all) expect(everySpellingOf(shown)).not.toContain(one)
      },
    ),
  )
})

/** A text with everything that the encodings may have made of it undone. */
function everySpellingOf(text: string): string {
  return (
    text +
    decodedText(text) +
    [...text.matchAll(/[\w+/-]+/g)].flatMap(([run]) => [
      Buffer.from(run, 'base64').toString('latin1'),
      Buffer.from(run, 'hex').toString('latin1'),
    ])
  )
}

test('a recipient that is no address is kept in no spelling either', () => {
  const message = 'Bob%20Smith and "bob smith" and Qm9iIFNtaXRo are blocked.'
  expect(withoutRecipients(message, people('Bob Smith'))).not.toMatch(/bob|smith|Qm9i/i)
})

test('a letter that is longer in lower case does not move what is masked', () => {
  const message = `${'\u0130'.repeat(20)} "Bob Smith" is blocked.`
  expect(withoutRecipients(message, people('bob smith'))).toBe(
    `${'\u0130'.repeat(20)} "<recipient>" is blocked.`,
  )
})

test('a long message is cut, between characters, after recipients were masked', () => {
  const smith = people('bob smith')
  for (let before = 985; before < 1_001; before++) {
    const shown = withoutRecipients(`${'x'.repeat(before)} bob smith${'\u{1f600}'.repeat(600)}`, smith)
    expect(shown).not.toMatch(/bob|smith/)
    expect(shown.isWellFormed()).toBe(true)
    expect(shown.length).toBeLessThanOrEqual(1_000)
  }
  // Masks that are shorter than what they stand for do not bring a part of the next recipient into what is kept.
  const long = `${'y'.repeat(90)}@example.com`
  expect(withoutRecipients(`${long} `.repeat(40), people(long))).not.toContain('y')
})

test.each([
  'component abc%00 of',
  'value \\ud800 of',
  'value %ud800 of',
  'value &#xd800; of',
  'value &#0; of',
])('what Postgres does not store is in no text that was decoded: %s', words => {
  const shown = withoutRecipients(`${words} a@b.example is wrong`, people('a@b.example'))
  expect(shown).toMatch(/ of <recipient> is wrong$/)
  expect(shown.isWellFormed() && !shown.includes('\0')).toBe(true)
})

test('a long message costs no more than a short one', () => {
  const message = 'a@b.example '.repeat(500_000)
  expect(withoutRecipients(message, people('a@b.example'))).toHaveLength(1_000)
})

test('a message that is longer than what is searched names nobody by the beginning of an address', () => {
  for (const before of [49_984, 49_985, 49_986, 49_987]) {
    expect(namedIn(`${'x'.repeat(before)} bob@example.com`, people('bob@example.co'))).toEqual([])
  }
  expect(namedIn(`bob@example.com ${'x '.repeat(2_000_000)}`, people('bob@example.com'))).toEqual([0n])
})

test('the first 50,000 characters of a message are searched', () => {
  const namedAfter = (before: number) =>
    namedIn(`${' '.repeat(before)}bob@example.com ${' '.repeat(50_000)}`, people('bob@example.com'))
  expect(namedAfter(50_000 - 16)).toEqual([0n])
  expect(namedAfter(50_000)).toEqual([])
})
