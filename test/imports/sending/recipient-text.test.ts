import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAboutPage, namedIn, withoutRecipients } from '#src/imports/recipient-text.ts'

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
      fc.stringMatching(/^[a-z0-9_%+-]{1,3}$/),
      fc.stringMatching(/^[a-z0-9]{1,3}$/),
      (one, before, after) => {
        for (const longer of [
          before + one,
          one + after,
          `${one}.${after}`,
          `${before}.${one}`.replace(/^[_%+-]+\./, 'x.'),
        ]) {
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
