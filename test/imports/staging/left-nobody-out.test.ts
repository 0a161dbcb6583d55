import { expect, test } from 'vitest'
import { cleanAddress, openRecipientCheck } from '#src/imports/staging/checks/recipient.ts'
import { openStagingHarness } from './staging-harness.ts'

/* Files as people and programs leave them, in which somebody who opted out could be missed. */

test.for([
  ['separated by ;', 'recipient;reason\n@ada;opted out\n@ben;opted out\n'],
  ['separated by tabs, with quotes', '"reason"\t"recipient"\nopted out\t@ada\nopted out\t@ben\n'],
  ['separated by commas', 'recipient,reason\n@ada,opted out\n@ben,opted out\n'],
  ['of one column', '@ada\n@ben\n'],
  ['with two columns of this kind', 'email,recipient\n@ada,@ben\n,@dan\n'],
] as const)('a suppression list of any method is read: %s', async ([, list]) => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file(list)
  const { summary } = await harness.stage('recipient\n@ada\n@ben\n@cleo\n', { method: 'im', suppress })
  expect(summary).toMatchObject({ suppressed: 2, pending: 1 })
})

test.for([
  'phone;reason\n+4477;stop\n',
  '+4477;stop\n',
  '+4477|stop\n',
  '+4477\tstop\n',
  '+4477\n+4478;stop\n',
])('a suppression list of several columns without a header that is known is refused: %j', async list => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file(list)
  const { message } = await harness.refusal('recipient\n+4477\n', { method: 'sms', suppress })
  expect(message).toMatch(/no column for the recipient|several columns, and no header names the one/)
})

test.for([
  ['email', 'email,note\nada@example.com,"note\nben@example.com,stop\ncleo@example.com,5"\n'],
  ['sms', 'recipient,note\n+447700900001,"note\n+447700900002,stop\n+447700900003,5"\n'],
] as const)(
  'a list of %s in which quotes enclose others is refused, and the line named',
  async ([method, list]) => {
    await using harness = await openStagingHarness()
    const suppress = await harness.file(list)
    const file = `recipient\n${method === 'email' ? 'ben@example.com' : '+447700900002'}\n`
    const { message } = await harness.refusal(file, { method, suppress })
    expect(message).toContain('line 2 (its quotes enclose further lines that may name somebody')
  },
)

test('a note of several lines in a list that names nobody stays a note', async () => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file('email,note\nada@example.com,"left\nfor 5550100 reasons @ home"\n')
  const { summary } = await harness.stage('email\nada@example.com\nben@example.com\n', { suppress })
  expect(summary).toMatchObject({ suppressed: 1, pending: 1 })
})

test.for([
  ['email,alternate_email\nada@example.com,ben@example.com\n', 'line 2'],
  ['recipient;e-mail 2\nada@example.com;\ncleo@example.com;"ben@example.com"\n', 'line 3'],
  ['{"email":"ada@example.com","contact":"ben@example.com"}\n', 'line 1'],
] as const)('an address in a column that is not read is no address left out: %j', async ([list, line]) => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file(list)
  const { message } = await harness.refusal('email\nben@example.com\n', { suppress })
  expect(message).toContain(`${line} (an address is in a column that is not read: call that column mail,`)
})

test('a column that repeats the address that was read, or speaks of one, is no other person', async () => {
  await using harness = await openStagingHarness()
  const list =
    'email,login,reason\nada@example.com,ADA@example.com,"asked by help@example.com, twice"\nben@example.com,,@ home\n'
  const suppress = await harness.file(list)
  const { summary, warnings } = await harness.stage('email\nada@example.com\n', { suppress })
  expect(summary).toMatchObject({ suppressed: 1, pending: 0 })
  expect(warnings.join()).not.toContain('suppression list')
})

test.for([
  ['email\n', /names nobody who must not be subscribed\.$/, /leave out --suppress\.$/],
  ['email,reason\n,\n\n', /names nobody who must not be subscribed\.$/, /leave out --suppress\.$/],
  ['{"email":""}\n', /^1 line of .* cannot be read: line 1 /, /^Correct each of them/],
] as const)(
  'a suppression list that names nobody is refused, as an empty one is: %j',
  async ([list, why, remedy]) => {
    await using harness = await openStagingHarness()
    const suppress = await harness.file(list)
    const { message, whatToDo } = await harness.refusal('email\nben@example.com\n', { suppress })
    expect(message).toMatch(why)
    expect(whatToDo).toMatch(remedy)
  },
)

test('a suppression list of which nobody is in the file is told of', async () => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file('ada@example.com\ncleo@example.com\n')
  const { warnings } = await harness.stage('email\nben@example.com\n', { suppress })
  expect(warnings).toEqual(['The file has none of the 2 recipients of the suppression list.'])
})

test('a pattern in the first line of a list without a header is named as one', async () => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file('*@example.com\nada@example.com\n')
  const { message } = await harness.refusal('email\nben@example.com\n', { suppress })
  expect(message).toContain('line 1 (a pattern, and only recipients who are listed are left out')
})

test.for([
  '“ada@example.com”',
  '‘ada@example.com’',
  '„ada@example.com“',
  '«ada@example.com»',
  '• ada@example.com',
  "'ada@example.com",
  '“ada@example.com” ;',
])('typography around an address is removed: %s', text => {
  expect(cleanAddress(text)).toEqual({ address: 'ada@example.com', cleaned: 'name or separator' })
})

test('an apostrophe of a name stays, and what single quotes enclose is no address', () => {
  expect(cleanAddress("o'hara@example.com’")).toMatchObject({ address: "o'hara@example.com" })
  expect(cleanAddress("'o'hara@example.com")).toMatchObject({ address: "o'hara@example.com" })
  expect(openRecipientCheck('email', true)(cleanAddress("'ada@example.com'").address)).not.toBeNull()
})

test.for([
  'a“b”@example.com',
  'a…b@example.com',
  'a→b@example.com',
  'a\u{fe0f}b@example.com',
  'a\u{3164}b@example.com',
  'ada@exam•ple.com',
  'ada@example.com°',
  'ada\u2011b@example.com',
  'ada@exam\u2011ple.com',
  '✉ada@example.com',
  '·ada@example.com',
  'ada@example.com–',
  'ada@example.com、',
  'ada@example.com™',
  'ada@example.com✅',
  'ada@™.com',
  'ada@ex®.com',
])('no address has a mark of typography or an invisible character in it: %j', address => {
  for (const isLenient of [true, false])
    expect(openRecipientCheck('email', isLenient)(address)).toMatchObject({ reason: 'not an e-mail address' })
})

test.for(['ada@i❤️.ws', 'ada@I❤.ws', 'ada@👍🏽.ws', 'ada@🇩🇪.to', 'ada@col·legi.cat', 'אדה@צה״ל.קום'])(
  'an address with letters and emoji of a domain is one: %s',
  address => {
    expect(cleanAddress(address)).toEqual({ address, cleaned: null })
    expect(openRecipientCheck('email', false)(address)).toBeNull()
  },
)

test('a line without anything in it is rejected, not taken for somebody who has not confirmed', async () => {
  await using harness = await openStagingHarness()
  const header = 'email,verified_at,locale,global\n'
  const { summary, reasons } = await harness.stage(
    `${header}ada@example.com,2020-01-01,en-US,1\n,,,\nben@example.com,,en-US,1\n`,
    { from: 'cachet' },
  )
  expect(summary).toMatchObject({ pending: 1, rejected: 1, suppressed: 1 })
  expect(reasons.map(({ reason }) => reason).toSorted()).toEqual(['no recipient', 'unconfirmed'])
})

const ENCLOSES_ROWS = /header of a CSV \(a quote in it encloses rows\)/

test.for([
  [
    'lines of an old Mac, of which the last ends as others do',
    'email,locale\rada@example.com,en-US\rben@example.com,en-US\n',
    /lone carriage return/,
  ],
  [
    'a quote that encloses rows',
    'email,locale,"note\nada@example.com,en-US,hi\nben@example.com,en-US,12"\ncleo@example.com,en-US,hi\n',
    ENCLOSES_ROWS,
  ],
  [
    'a quote that encloses rows with names',
    'email,locale,"note\nAda <ada@example.com>,en-US,12"\ncleo@example.com,en-US,hi\n',
    ENCLOSES_ROWS,
  ],
  [
    'a quote that encloses rows of another method',
    'recipient,locale,"note\n+44 7700 900001,en-US,12"\n+44 7700 900002,en-US,hi\n',
    ENCLOSES_ROWS,
  ],
  [
    'a quote that encloses rows that name nobody in a known form',
    'recipient,locale,"note\nada,en-US,hi\nben,en-US,12"\ncleo,en-US,hi\n',
    ENCLOSES_ROWS,
  ],
  ['a quote that encloses the only column', '"email\nada@example.com\nben@example.com"\n', ENCLOSES_ROWS],
] as const)('no row becomes a part of the header: %s', async ([, file, message]) => {
  await using harness = await openStagingHarness()
  const refused = await harness.refusal(file)
  expect(refused.message).toMatch(message)
  expect(`${refused.message} ${refused.whatToDo}`).not.toMatch(/@|7700/)
})

test.for(['"Questions, help@example.com"', '"Contact\nhelp@example.com"', '"Notes\n(date, author)"'])(
  'a name of a column may have line breaks, and an address in it: %j',
  async name => {
    await using harness = await openStagingHarness()
    const { summary } = await harness.stage(`email,${name}\nada@example.com,hi\n`)
    expect(summary).toMatchObject({ read: 1, pending: 1 })
  },
)

test.for([
  'https://hooks.example.com/services/SECRET',
  'hooks.example.com/services/SECRET',
  '+44 7700 900004',
  '(555) 123-4567',
  '555.123.4567',
  'tel:020 7946 0958',
  '@ada',
  '447700900004',
])(
  'what may be a recipient of another method is not said in an error about the header: %s',
  async recipient => {
    await using harness = await openStagingHarness()
    const { message, whatToDo } = await harness.refusal(`${recipient},en-US\n`, { method: 'sms' })
    expect(message).toContain('no column for the recipient')
    expect(`${message} ${whatToDo}`).not.toContain(recipient)
  },
)
