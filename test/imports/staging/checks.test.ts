import { isEmailValid } from '@hapi/address'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { estimateMs } from '#src/imports/estimate.ts'
import { maskRecipient } from '#src/imports/recipient-text.ts'
import { isEmail, openRecipientCheck } from '#src/imports/staging/checks/recipient.ts'
import { RowCheck, type RowRules } from '#src/imports/staging/checks/row.ts'
import { openLocaleCheck } from '#src/imports/staging/checks/values.ts'
import { fieldsOf, matchColumns } from '#src/imports/staging/file/header.ts'
import { openSeenBefore } from '#src/imports/staging/row-sink.ts'
import { escapeCell, unescapeCell } from '#src/model/csv-cells.ts'

const RULES: RowRules = {
  fields: fieldsOf(null, {}),
  preset: null,
  method: 'email',
  lenientAddresses: false,
  defaultLocale: null,
  locales: new Map(),
  all: false,
  components: null,
}

test.for([
  'ada@example.com',
  "o'brien+tag@mail.example.co.uk",
  'jörg@münchen.de',
  'x@xn--mnchen-3ya.de',
  `a@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(60)}.example`,
])('%s is an e-mail address', address => {
  expect(openRecipientCheck('email', false)(address)).toBeNull()
})

test.for([
  ['', 'no recipient'],
  ['ada', 'not an e-mail address'],
  ['ada@localhost', 'not an e-mail address'],
  ['ada@@example.com', 'not an e-mail address'],
  ['ada@example..com', 'not an e-mail address'],
  ['.ada@example.com', 'unusual e-mail address'],
  ['ada@1.2.3.4', 'not an e-mail address'],
  ['ada @example.com', 'not an e-mail address'],
  ['ada\u200b@example.com', 'not an e-mail address'],
  ['Ada <ada@example.com>', 'not an e-mail address'],
  [`${'a'.repeat(65)}@example.com`, 'unusual e-mail address'],
  [`a@${'b'.repeat(250)}.com`, 'recipient too long'],
  ['a\ufffda@example.com', 'unreadable recipient'],
  ['a\u2400a@example.com', 'unreadable recipient'],
] as const)('%j is not: %s', ([address, reason]) => {
  const check = openRecipientCheck('email', false)
  const trouble = check(address)

  expect(trouble?.reason).toBe(reason)
  if (address !== '') expect(trouble?.message).not.toContain(address)
})

test('an address over two lines is said to hold a line break', () => {
  expect(openRecipientCheck('email', false)('ada\n@example.com')?.message).toContain('line break')
})

test('what looks plain is what the strict check takes', () => {
  const part = fc.string({
    unit: fc.constantFrom('a', 'B', '9', '-', '.', '_', '+', '@', 'xn--'),
    maxLength: 12,
  })
  fc.assert(
    fc.property(part, part, (local, domain) => {
      const address = `${local}@${domain}.com`
      expect(isEmail(address)).toBe(isEmailValid(address))
    }),
    { numRuns: 2000 },
  )
})

test('a recipient of another method is anything of up to 255 characters', () => {
  const check = openRecipientCheck('im', false)
  expect(check('Team Room 7')).toBeNull()
  expect(check('x'.repeat(255))).toBeNull()
  expect(check('x'.repeat(256))?.reason).toBe('recipient too long')
  expect(check('')?.reason).toBe('no recipient')
})

test('a locale is a language and a region that exist', () => {
  const isLocale = openLocaleCheck()
  expect(['en-US', 'de-DE', 'zh-CN', 'fil-PH', 'es-419'].map(isLocale)).toEqual(Array(5).fill(true))
  expect(
    ['en', 'xx-YY', 'en-ZZ', 'en_US', 'en-us', 'EN-US', 'zh-Hans-CN', 'en-US ', ''].map(isLocale),
  ).toEqual(Array(9).fill(false))
})

test.for([
  [['yes', ''], { all: true, componentIds: [] }],
  [['TRUE', 'c1'], { all: true, componentIds: [] }],
  [['1', undefined], { all: true, componentIds: [] }],
  [[true, null], { all: true, componentIds: [] }],
  [['no', 'c1,c2'], { all: false, componentIds: ['c1', 'c2'] }],
  [['', ' c1 | c2 ; c3 c1 '], { all: false, componentIds: ['c1', 'c2', 'c3'] }],
  [[undefined, '["c1", "c2"]'], { all: false, componentIds: ['c1', 'c2'] }],
  [[0, ['c1']], { all: false, componentIds: ['c1'] }],
] as const)('all and components %j are %j', ([[all, components], expected]) => {
  const verdict = new RowCheck(RULES).verdictOn(['a@example.com', all, components, 'en-US'])

  expect(verdict).toMatchObject({ kind: 'good', ...expected })
})

test.for([
  [['', ''], 'neither all nor components'],
  [['no', ''], 'neither all nor components'],
  [['', '[]'], 'neither all nor components'],
  [['maybe', 'c1'], 'not yes or no'],
  [['', '["c1"'], 'not components'],
  [['', '[["c1"]]'], 'not components'],
  [['', '[""]'], 'not components'],
  [['', { a: 1 }], 'not components'],
] as const)(
  'all and components %j are rejected: %s, and never widened to all',
  ([[all, components], reason]) => {
    expect(new RowCheck(RULES).verdictOn(['a@example.com', all, components, 'en-US'])).toMatchObject({
      kind: 'rejected',
      reason,
    })
  },
)

test('--all covers rows that say nothing, not those that say no', () => {
  const check = new RowCheck({ ...RULES, all: true })
  expect(check.verdictOn(['a@example.com', '', '', 'en-US'])).toMatchObject({ kind: 'good', all: true })
  expect(check.verdictOn(['a@example.com', undefined, 'c1', 'en-US'])).toMatchObject({ all: false })
  expect(check.verdictOn(['a@example.com', 'no', '', 'en-US'])).toMatchObject({ kind: 'rejected' })
  expect(check.verdictOn(['a@example.com', '', 'c1,', 'en-US'])).toMatchObject({
    all: false,
    componentIds: ['c1'],
  })
})

test('a row without a locale has the default one, or is rejected', () => {
  const row = ['a@example.com', 'yes', '', '']
  expect(new RowCheck({ ...RULES, defaultLocale: 'de-DE' }).verdictOn(row)).toMatchObject({ locale: 'de-DE' })
  expect(new RowCheck(RULES).verdictOn(row)).toMatchObject({ kind: 'rejected', reason: 'no locale' })
  expect(new RowCheck(RULES).verdictOn([...row.slice(0, 3), 'xx-YY'])).toMatchObject({
    reason: 'not a locale',
  })
})

test('a column is found by its name without case and separators, the better name first', () => {
  const fields = fieldsOf(null, {})
  expect(matchColumns(['E-Mail', 'Subscribe All', 'Component IDs', 'LANGUAGE'], fields)).toEqual([0, 1, 2, 3])
  expect(matchColumns(['email', 'recipient'], fields)).toEqual([1, -1, -1, -1])
  expect(matchColumns(['email', 'Contact'], fieldsOf(null, { recipient: 'contact' }))).toEqual([
    1, -1, -1, -1,
  ])
  expect(() => matchColumns(['email'], fieldsOf(null, { locale: 'lingo' }))).toThrow(
    '--map locale=lingo: the file has no column lingo; its columns are email.',
  )
  expect(() => matchColumns(['name'], fieldsOf(null, {}))).toThrow('has no column for the recipient')
  expect(() => fieldsOf(null, { recipent: 'x' })).toThrow('did you mean recipient')
})

test('a cell kept from a spreadsheet comes back as it was', () => {
  const cell = fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', 'a', '"', ' ') })
  fc.assert(
    fc.property(cell, text => {
      expect(unescapeCell(escapeCell(text))).toBe(text)
      expect(escapeCell(text)).not.toMatch(/^[=+\-@\t\r]/)
    }),
  )
})

test('who has been seen is never taken for new', () => {
  const hash = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map(n => String.fromCharCode(n)),
    minLength: 16,
    maxLength: 16,
  })
  const seenBefore = openSeenBefore()
  fc.assert(
    fc.property(hash, value => {
      seenBefore(value)
      expect(seenBefore(value)).toBe(true)
    }),
  )
  expect(openSeenBefore()('0123456789abcdef')).toBe(false)
})

test('a recipient is shown by its first letter and its domain', () => {
  expect(maskRecipient('ada@example.com')).toBe('a…@example.com')
  expect(maskRecipient('+4915112345')).toBe('+…')
  expect(maskRecipient('😀@example.com')).toBe('😀…@example.com')
})

test.for([
  [0, 0],
  [1, 0],
  [2, 0],
  [3, 1_000],
  [20, 9_000],
  [21, 60_000],
  [41, 120_000],
  [1000, 49 * 60_000 + 9_000],
])('%i batches take %i ms at 2 a second and 20 a minute', ([batches, ms]) => {
  const windows = [
    { maxCalls: 2, windowMs: 1000 },
    { maxCalls: 20, windowMs: 60_000 },
  ]
  expect(estimateMs(batches ?? 0, { limitKey: 'a', windows })).toBe(ms)
})

test('a row with a component that is not mapped is rejected, however many of its others are', () => {
  const check = new RowCheck({
    ...RULES,
    components: new Map([
      ['old-1', 'new-1'],
      ['old-2', 'new-1'],
    ]),
  })
  const verdictOf = (components: string) => check.verdictOn(['a@example.com', '', components, 'en-US'])
  expect(verdictOf('old-1|old-2')).toMatchObject({ kind: 'good', all: false, componentIds: ['new-1'] })
  for (const components of ['old-3', 'old-1|old-3', 'old-3|old-1', 'old-1|old-2|old-3']) {
    expect([components, verdictOf(components)]).toMatchObject([
      components,
      { kind: 'rejected', reason: 'unmapped component', message: expect.stringContaining('old-3') },
    ])
  }
})
