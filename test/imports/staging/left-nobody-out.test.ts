import { expect, test } from 'vitest'
import { cleanAddress, openRecipientCheck } from '#src/imports/staging/checks/recipient.ts'
import { openStagingHarness } from './staging-harness.ts'

/* Files as people and programs leave them, in which somebody who opted out could be missed. */

test.for([
  ['separated by ;', 'recipient;reason\n@ada;opted out\n@ben;opted out\n'],
  ['separated by tabs, with quotes', '"reason"\t"recipient"\nopted out\t@ada\nopted out\t@ben\n'],
  ['separated by commas', 'recipient,reason\n@ada,opted out\n@ben,opted out\n'],
  ['of one column', '@ada\n@ben\n'],
] as const)('a suppression list of any method is read: %s', async ([, list]) => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file(list)
  const { summary } = await harness.stage('recipient\n@ada\n@ben\n@cleo\n', { method: 'im', suppress })
  expect(summary).toMatchObject({ suppressed: 2, pending: 1 })
})

test.for(['phone;reason\n+4477;stop\n', '+4477;stop\n', '+4477\tstop\n', '+4477\n+4478;stop\n'])(
  'a suppression list of several columns without a header that is known is refused: %j',
  async list => {
    await using harness = await openStagingHarness()
    const suppress = await harness.file(list)
    const { message } = await harness.refusal('recipient\n+4477\n', { method: 'sms', suppress })
    expect(message).toMatch(/no column for the recipient|several columns, and no header names the one/)
  },
)

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
])('no address has a mark of typography or an invisible character in it: %j', address => {
  for (const isLenient of [true, false])
    expect(openRecipientCheck('email', isLenient)(address)).toMatchObject({ reason: 'not an e-mail address' })
})

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

test.for([
  [
    'lines of an old Mac, of which the last ends as others do',
    'email,locale\rada@example.com,en-US\rben@example.com,en-US\n',
    /lone carriage return/,
  ],
  [
    'a quote that encloses rows',
    'email,locale,"note\nada@example.com,en-US,hi\nben@example.com,en-US,12"\ncleo@example.com,en-US,hi\n',
    /contains an address/,
  ],
] as const)('no row becomes a part of the header: %s', async ([, file, message]) => {
  await using harness = await openStagingHarness()
  const refused = await harness.refusal(file)
  expect(refused.message).toMatch(message)
  expect(`${refused.message} ${refused.whatToDo}`).not.toContain('@')
})

test.for(['https://hooks.example.com/services/SECRET', '+44 7700 900004', '@ada', '447700900004'])(
  'what may be a recipient of another method is not said in an error about the header: %s',
  async recipient => {
    await using harness = await openStagingHarness()
    const { message, whatToDo } = await harness.refusal(`${recipient},en-US\n`, { method: 'sms' })
    expect(message).toContain('no column for the recipient')
    expect(`${message} ${whatToDo}`).not.toContain(recipient)
  },
)
