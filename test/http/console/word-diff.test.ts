import fc from 'fast-check'
import { expect, test } from 'vitest'
import { marked } from '#src/http/console/parts/visible.ts'
import { diffWords, wordDiff } from '#src/http/console/parts/word-diff.ts'

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** What stands on each side of a difference as a browser would show it, and how many characters are left out of it. */
function sidesIn(markup: string) {
  const sides = { before: '', after: '', cutBefore: 0, cutAfter: 0 }
  let inside = 'bdi'
  for (const [, tag, text = ''] of markup.matchAll(/<(\/?[a-z]+(?: class="arrow")?)[^>]*>([^<]*)/g)) {
    if (tag === 'span class="arrow"') continue
    if (tag === 'bdi' || tag === 'del' || tag === 'ins') inside = tag
    const isCut = tag === 'span' && text.endsWith('characters … ')
    const words = text.replace(/&([#a-z0-9]+);/g, (_, name) => ENTITIES[name] ?? '?')
    const left = isCut ? Number(words.replace(/\D/g, '')) : 0
    if (inside !== 'ins') {
      if (isCut) sides.cutBefore += left
      else sides.before += words
    }
    if (inside !== 'del') {
      if (isCut) sides.cutAfter += left
      else sides.after += words
    }
  }
  return sides
}

/** Texts that share words, with what HTML, words and spaces could stumble over. */
const word = fc.oneof(
  fc.constantFrom(
    'the',
    'rule',
    'pages',
    'on',
    ' ',
    '  ',
    '\n',
    '\t',
    ', ',
    '<b>',
    '&amp;',
    "'",
    '"',
    '\u202e',
    '👩‍🚒',
    'ß',
    '日本',
  ),
  fc.string({ maxLength: 6, unit: 'grapheme' }).map(text => text.replaceAll('…', '')),
)
const textOf = (maxLength: number) => fc.array(word, { maxLength }).map(words => words.join(''))

test('the old and the new text can be read back from what is shown', () => {
  fc.assert(
    fc.property(textOf(60), textOf(60), (before, after) => {
      expect(sidesIn(String(wordDiff(before, after)))).toEqual({ before, after, cutBefore: 0, cutAfter: 0 })
    }),
    { numRuns: 500 },
  )
})

test('a small edit of a long text is shown as that edit, and what is left out is counted', () => {
  fc.assert(
    fc.property(textOf(400), textOf(5), textOf(400), (start, edit, end) => {
      const [before, after] = [`${start} ${end}`, `${start} ${edit} ${end}`]
      const sides = sidesIn(String(wordDiff(before, after)))
      expect([...sides.before].length + sides.cutBefore).toBe([...before].length)
      expect([...sides.after].length + sides.cutAfter).toBe([...after].length)
    }),
    { numRuns: 100 },
  )
})

test('words that stayed are not shown twice', () => {
  expect(diffWords('Pages the night shift after 5 minutes', 'Pages the day shift after 5 minutes')).toEqual([
    { kind: 'same', text: 'Pages the ' },
    { kind: 'removed', text: 'night' },
    { kind: 'added', text: 'day' },
    { kind: 'same', text: ' shift after 5 minutes' },
  ])
})

test('an arrow leads from a text that went as a whole to the one that came for it, and from no other', () => {
  const isWithArrow = (before: string, after: string) =>
    `${wordDiff(before, after)}`.includes('class="arrow"')
  expect(isWithArrow('prometheus', 'elasticsearch')).toBe(true)
  expect(isWithArrow('one two three', 'one two')).toBe(false)
  expect(isWithArrow('Pages the night shift after 5 minutes', 'Pages the day shift after 5 minutes')).toBe(
    false,
  )
})

test('however many words changed, a text of usual length is shown word by word, and a long one as the two texts', () => {
  const textsThatWent = (between: string) => {
    const text = (word: string) => Array.from({ length: 13 }, (_, n) => `${word}${n} ${between} `).join('')
    return `${wordDiff(text('old'), text('new'))}`.split('<del>').length - 1
  }
  expect(textsThatWent('stays the same')).toBe(13)
  expect(textsThatWent('stays the same '.repeat(20))).toBe(1)
})

test('texts with little in common, and those that are too long to compare, are shown whole', () => {
  const whole = (before: string, after: string) =>
    expect(diffWords(before, after)).toEqual([
      { kind: 'removed', text: before },
      { kind: 'added', text: after },
    ])
  whole('prometheus', 'elasticsearch')
  whole('15 7 * * *', '0 * * * *')
  whole('one two three four five', 'six seven eight nine five')
  whole(`${'a '.repeat(8_000)}x`, `${'a '.repeat(8_000)}y`)
  const words = (from: number) => Array.from({ length: 900 }, (_, n) => `same w${from + n} `).join('')
  whole(words(0), words(10_000))
})

test('however long the texts are, a difference takes little room and time', () => {
  const [before, after] = ['a<'.repeat(500_000), 'b<'.repeat(500_000)]
  const markup = String(wordDiff(before, after))
  expect(markup.length).toBeLessThan(8_000)
  expect(markup).toContain('999,400 characters')
})

test.for([
  ['of many words', 'one two three four '],
  ['of one word', 'x'],
  ['of characters that are escaped', '"<&>'],
  ['of characters that show nothing', '\u200b'],
  ['of emoji', '\u{1f468}'],
] as const)('two texts of 60,000 characters %s make a short difference', ([, unit]) => {
  const before = `first ${unit.repeat(60_000 / unit.length)}`
  const after = `second ${unit.repeat(60_000 / unit.length)} more`
  const shown = `${wordDiff(before, after, marked)}`
  expect(shown.length).toBeLessThan(20_000)
  expect(shown.isWellFormed()).toBe(true)
  const few = `${wordDiff(words(900, 0), words(900, 1), marked)}`
  expect(few.length).toBeLessThan(40_000)
})

/** Every other word differs from the same text with another seed. */
function words(count: number, seed: number): string {
  return Array.from({ length: count }, (_, n) => (n % 2 === 0 ? `same${n}` : `other${seed}`)).join(' ')
}
