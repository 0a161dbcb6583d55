import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { asciiForm, openRecipientHash } from '#src/imports/spellings.ts'
import { cleanAddress, openRecipientCheck } from '#src/imports/staging/checks/recipient.ts'
import { openStagingHarness, type StagingHarness } from './staging-harness.ts'

let harness: StagingHarness
beforeAll(async () => {
  harness = await openStagingHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())
beforeEach(() => harness.discardAll())

test.for([
  ['ada@example.com', 'ada@example.com', null],
  ['\u200bada@example.com\u00ad', 'ada@example.com', 'unseen characters'],
  ['\u202aada@example.com\u202c', 'ada@example.com', 'unseen characters'],
  ['\ufeff \u2060ada@example.com\u200e', 'ada@example.com', 'unseen characters'],
  ['jörg@münchen.de\u200d', 'jörg@münchen.de', 'unseen characters'],
  ['Ada Lovelace <ada@example.com>', 'ada@example.com', 'name or separator'],
  ['"Lovelace, Ada" <\u200bada@example.com >;', 'ada@example.com', 'name or separator'],
  ['<ada@example.com>', 'ada@example.com', 'name or separator'],
  ['ada@example.com,', 'ada@example.com', 'name or separator'],
  ['ada@example.com ; \u200b', 'ada@example.com', 'name or separator'],
  ['ada@example.com, ben@example.com', 'ada@example.com, ben@example.com', null],
  ['Ada <ada@example.com> <ben@example.com>', 'Ada <ada@example.com> <ben@example.com>', null],
  ['ada\u200b@example.com', 'ada\u200b@example.com', null],
  ['', '', null],
  [';', '', 'name or separator'],
] as const)('%j is taken for %j', ([written, address, cleaned]) => {
  expect(cleanAddress(written)).toEqual({ address, cleaned })
})

test('what was cleaned once stays as it is', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '@', '.', '<', '>', ',', ';', ' ', '\u200b', '\u00ad', 'é'),
  })
  fc.assert(
    fc.property(text, written => {
      const { address, cleaned } = cleanAddress(written.trim())
      if (cleaned === null) expect(address).toBe(written.trim())
      if (openRecipientCheck('email', true)(address) === null) {
        expect(cleanAddress(address)).toEqual({ address, cleaned: null })
      }
    }),
    { numRuns: 2000 },
  )
})

test('what was removed from addresses is counted, and the row is sent', async () => {
  const staged = await harness.stage(
    'email\n\u200bada@example.com\nBen <ben@example.com>\ncleo@example.com;\n"dan@example.com,"\neve\u200b@example.com\nfay@example.com\n',
  )

  expect((await harness.recipients()).map(({ recipient }) => recipient)).toEqual(
    ['ada', 'ben', 'cleo', 'dan', 'fay'].map(who => `${who}@example.com`),
  )
  expect(await harness.rejects()).toMatchObject([{ line: 6, reason: 'not an e-mail address' }])
  expect(staged.warnings).toEqual([
    'Invisible characters were removed from 1 address.',
    expect.stringContaining('was removed from 3 addresses'),
  ])
})

const UNUSUAL = [
  'john..doe@docomo.ne.jp',
  'john.@docomo.ne.jp',
  '.john@docomo.ne.jp',
  `${'a'.repeat(65)}@example.com`,
  'ada@my_host.example.com',
  'ada@_x.example.com',
]

test.for(UNUSUAL)('%s is accepted with --lenient-addresses, else rejected with its name', address => {
  const trouble = openRecipientCheck('email', false)(address)

  expect(trouble).toMatchObject({ reason: 'unusual e-mail address' })
  expect(trouble?.message).toContain('--lenient-addresses')
  expect(trouble?.message).not.toContain(address)
  expect(openRecipientCheck('email', true)(address)).toBeNull()
})

test.for([
  '..@example.com',
  '@example.com',
  'a@b@example.com',
  'a b@example.com',
  'ada@example.c_m',
  'ada@.example.com',
  'example.com',
  'ada.lovelace',
])('%s is no address, however lenient', address => {
  expect(openRecipientCheck('email', true)(address)?.reason).toBe('not an e-mail address')
})

test('a dry run with unusual addresses names the option, with which they are sent', async () => {
  const content = `email\n${UNUSUAL.join('\n')}\n`

  const staged = await harness.dryRun(content)
  expect(staged.summary).toMatchObject({ rejected: UNUSUAL.length })
  expect(staged.warnings).toContainEqual(expect.stringContaining('--lenient-addresses'))

  const lenient = await harness.dryRun(content, { lenientAddresses: true })
  expect(lenient.summary).toMatchObject({ rejected: 0, pending: UNUSUAL.length })
  expect(lenient.warnings).toEqual([])
})

/** An address of `octets`: 60 of each label's, and the rest. */
const ofOctets = (octets: number, letter: string) => {
  const domain = `${`${'d'.repeat(60)}.`.repeat(3)}com`
  return `${letter.repeat((octets - domain.length - 1) / Buffer.byteLength(letter))}@${domain}`
}

test.for([
  [ofOctets(255, 'a'), null],
  [ofOctets(256, 'a'), 'recipient too long'],
  [ofOctets(257, 'é'), 'recipient too long'],
  // 255 and fewer as written; in ASCII the domain is longer.
  [`${'a'.repeat(64)}@${'üd'.repeat(18)}.${'üd'.repeat(18)}.${'üd'.repeat(18)}.de`, null],
  [`a@${'ü.'.repeat(40)}de`, 'recipient too long'],
] as const)('an address of more than 255 octets in either form is rejected %#', ([address, reason]) => {
  expect(address.length).toBeLessThanOrEqual(256)
  expect(openRecipientCheck('email', true)(address)?.reason ?? null).toBe(reason)
})

test.for([
  ['jörg@münchen.de', 'jörg@xn--mnchen-3ya.de'],
  ['ada@münchen.de', 'ADA@XN--MNCHEN-3YA.DE'],
  ['ada@MÜNCHEN.de', 'ada@xn--mnchen-3ya.de'],
  ['jörg@example.com', 'jo\u0308rg@example.com'],
  ['ada@münchen.de', 'ada@mu\u0308nchen.de'],
  ['JÖRG@example.com', 'jo\u0308rg@example.com'],
  ['ada@例え。jp', 'ada@例え.jp'],
] as const)('%s and %s are one address', async ([one, other]) => {
  const hashOf = openRecipientHash('installation', 'email')
  expect(hashOf(one)).toBe(hashOf(other))

  const staged = await harness.stage(`email\n${one}\n${other}\n`)
  expect(staged.summary).toMatchObject({ read: 2, duplicate: 1, pending: 1 })
  expect([one, other]).toContain((await harness.recipients())[0]?.recipient)
  const suppressed = await harness.stage(`email\n${one}\n`, { suppress: await harness.file(`${other}\n`) })
  expect(suppressed.summary).toMatchObject({ suppressed: 1, pending: 0 })
})

test('the hash of an address in ASCII is what it always was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), text => {
      const before = createHash('sha256').update(`i\nemail\n${text.toLowerCase()}`).digest('hex').slice(0, 32)
      expect(openRecipientHash('i', 'email')(text)).toBe(before)
    }),
  )
  expect(openRecipientHash('i', 'email')('ada@example.com')).toBe('fed767043af4ef32e4f01f99821b99c6')
})

test('the domain goes on where a URL would end', () => {
  expect(asciiForm('a@ü/x.de')).toBe('a@ü/x.de')
  expect(openRecipientHash('i', 'im')('ü@ü.de')).not.toBe(openRecipientHash('i', 'im')('ü@xn--tda.de'))
})

test('who gives a suppression list without a header is not told to import it', async () => {
  const suppress = await harness.file('ada@example.com,2024-01-01\nben@example.com,2024-02-02\n')
  const refused = await harness.refusal('email\ncleo@example.com\n', { suppress })
  expect(refused.message).toContain('contains an address: the file has no header')
  expect(`${refused.message} ${refused.whatToDo}`).not.toContain('ferry import')
})

test.each(['example.com', '@example.com', '*@example.com'])(
  'a suppression list that names a domain (%s) would leave nobody out, and is refused',
  async domain => {
    const suppress = await harness.file(`cleo@example.org\n${domain}\n`)
    const refused = await harness.refusal('email\nada@example.com\n', { suppress })
    expect(refused.message).toContain('line 2')
  },
)

test('a suppression list names all its bad lines at once, some of many, and takes what cleaning takes', async () => {
  const bad = Array.from({ length: 30 }, (_, n) => (n === 3 ? 'Ben <ben@example.com>;' : `bad ${n}`))
  const suppress = await harness.file(['ada..x@docomo.ne.jp', ...bad, 'cleo@example.com'].join('\n'))

  const refused = await harness.refusal('email\nada@example.com\n', { suppress })

  expect(refused.message).toMatch(
    /^29 lines of \S+ cannot be read: line 2 \(the recipient is not an e-mail address\), line 3 /,
  )
  expect(refused.message).toMatch(/line 22 \([^)]*\), and 9 more\. Nothing is imported/)
  expect(refused.message).not.toMatch(/bad|line 5 |line 23 /)

  const good = await harness.file('\u200bada..x@docomo.ne.jp\nBen <ben@example.com>;\n')
  const staged = await harness.stage('email\nada..x@docomo.ne.jp\nben@example.com\n', {
    suppress: good,
    lenientAddresses: true,
  })
  expect(staged.summary).toMatchObject({ suppressed: 2, pending: 0 })
})
