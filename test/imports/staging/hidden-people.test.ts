import { expect, test } from 'vitest'
import { cleanAddress } from '#src/imports/staging/checks/recipient.ts'
import { openStagingHarness } from './staging-harness.ts'

/* People who stand in a file where no recipient is looked for: inside quotes, beside a recipient, behind a pattern. */

const FILE = 'email\nada@example.com\nben@example.com\ncarl@example.com\n'

test.for([
  [
    'a quote in the header',
    'email,"note,when\nada@example.com,12",2020\nben@example.com,hi,2021\n',
    /encloses rows/,
  ],
  [
    'a quote in the header of few cells',
    'email,"note\nada@example.com",2020\nben@example.com,hi,1\n',
    /encloses/,
  ],
  [
    'two in another column',
    'recipient,email\nada@example.com,"ben@example.com; carl@example.com"\n',
    /line 2 \(sev/,
  ],
  ['a pattern in another column', 'recipient,email\nada@example.com,*@example.com\n', /line 2 \(a pattern/],
  [
    'no address in another column',
    'recipient,email\nada@example.com,’ben@example.com’x\n',
    /line 2 \(the recip/,
  ],
  ['a pattern after a dot', 'ada@example.com\n.*@example.com\n', /line 2 \(a pattern/],
  ['a pattern at the end of a name', 'ada@example.com\nben*@example.com\n', /line 2 \(a pattern/],
  ['a pattern of SQL', 'ada@example.com\nben%@example.com\n', /line 2 \(a pattern/],
  [
    'a person before another one, as mail programs write them',
    'email\nben@example.com; Ada <ada@example.com>\n',
    /line 2 \(/,
  ],
  ['a person instead of a name', 'email\nben@example.com <ada@example.com>\n', /line 2 \(/],
  ['a person on the line before a name', 'email\n"ben@example.com\nAda <ada@example.com>"\n', /line 2 \(/],
  ['a regular expression', 'email\n.+@example.com\n', /line 2 \(a pattern/],
  ['a pattern for one letter', 'email\nb?n@example.com\n', /line 2 \(a pattern/],
  [
    'somebody on the line of the quote',
    'note,email\nx,carl@example.com\n"left,ben@example.com\nstayed",ada@example.com\n',
    /line 3 \(its q/,
  ],
  [
    'somebody on the line of the quote, with quotes inside',
    'note,email\n"5\' 3"", ben@example.com, ""x"" y\nz",ada@example.com\n',
    /line 2 \(its q/,
  ],
  [
    'somebody on lines that end as on old computers',
    'email,note\nada@example.com,"x\rben@example.com,y\rz"\n',
    /line 2 \(its q/,
  ],
  [
    'somebody between quotes',
    'note,email\n"ben@example.com\ncarl@example.com\nx",ada@example.com\n',
    /line 2 \(its q/,
  ],
  [
    'somebody on the line of another',
    'note,email\n"x\nben@example.com, y",ada@example.com\n',
    /line 2 \(its q/,
  ],
  [
    'somebody whose name stands in a column of recipients',
    'subscriber,email,note\nben,ada@example.com,"x\nben@example.com, y"\n',
    /line 2 \(its q/,
  ],
  [
    'somebody of whose address another is a part',
    'email,note\nben@example.com,"x\nben@example.com.au, y"\n',
    /line 2 \(its q/,
  ],
  [
    'somebody whose address ends with another one',
    'email,note\nen@example.com,"x\nben@example.com, y"\n',
    /line 2 \(its q/,
  ],
] as const)('a suppression list is refused in which somebody could be missed: %s', async ([, list, why]) => {
  await using harness = await openStagingHarness()
  const refused = await harness.refusal(FILE, { suppress: await harness.file(list) })
  expect(refused.message).toMatch(why)
  expect(refused.message).not.toContain('example.com')
})

test.for([
  ['email', '{"email":"ada@example.com","subscriber":{"email":"ben@example.com"}}'],
  ['email', '{"recipient":"ada@example.com","email":["ben@example.com"]}'],
  ['sms', '{"recipient":"+447700900009","subscriber":["+447700900001"]}'],
] as const)('so is one of objects in which one recipient is no text: %s, %s', async ([method, list]) => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file(`${list}\n`, 'list.ndjson')
  const { message } = await harness.refusal(FILE, { method, suppress })
  expect(message).toContain('line 1 (the recipient is not text)')
})

test('of a person behind a bar both spellings are left out', async () => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file('17|ben@example.com\nAda|ada@example.com\n')
  const { summary } = await harness.stage(FILE, { suppress })
  expect(summary).toMatchObject({ suppressed: 2, pending: 1 })
})

test.for(['\u202a+447700900001\u202c', '+447700900001\u200e'])(
  'a number with invisible characters around it is that number, in a list and in a file: %j',
  async written => {
    await using harness = await openStagingHarness()
    const file = 'recipient\n+447700900001\n+447700900002\n'
    const suppress = await harness.file(`recipient\n${written}\n`)
    const { summary } = await harness.stage(file, { method: 'sms', suppress })
    expect(summary).toMatchObject({ suppressed: 1, pending: 1 })
    await harness.discardAll()
    const { warnings } = await harness.stage(`recipient\n${written}\n`, { method: 'sms' })
    expect(warnings.join()).toContain('Invisible characters were removed from 1 recipient.')
    expect((await harness.recipients()).map(({ recipient }) => recipient)).toEqual(['+447700900001'])
  },
)

test('an invisible character inside a number cannot be read', async () => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file('recipient\n+44\u200e7700900001\n')
  const { message } = await harness.refusal('recipient\n+447700900001\n', { method: 'sms', suppress })
  expect(message).toContain('line 2 (the recipient contains an unreadable character)')
})

test('a row with two people is rejected, not made one of them, and lines that a quote encloses are rows', async () => {
  await using harness = await openStagingHarness()
  const many = Array.from({ length: 30 }, (_, n) => `p${n}@example.com`)
  const rows = `"ada@example.com; Ben <ben@example.com>"\n"${many.join('\n')}\nZoe <zoe@example.com>"\n`
  const { summary } = await harness.stage(`email\n${rows}cy@example.com <cy@example.com>\n`)
  expect(summary).toMatchObject({ rejected: 3 })
  const found = (await harness.recipients()).map(({ recipient }) => recipient)
  expect(found).toEqual([...many.slice(1), 'cy@example.com'])
})

test.for([
  ['of telephone numbers in groups', 'sms', '(555) 123-4566,"note\n(555) 123-4567,stop\nx"'],
  ['of names', 'im', 'ada,"note\nben,stop\ncleo,5"'],
] as const)('so is a list %s whose quotes enclose lines', async ([, method, rows]) => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file(`recipient,note\n${rows}\n`)
  const { message } = await harness.refusal('recipient\nben\n(555) 123-4567\n', { method, suppress })
  expect(message).toContain('line 2 (its quotes enclose further lines')
})

test.for([
  [
    'cells of several lines before the address',
    'Name,Street,Email\nAda,"1 Main St\nApt 2",ada@example.com\n',
  ],
  ['a street in the column that may be the address', 'address,email\n"1 Main St; Apt 2",ada@example.com\n'],
  ['a name in the column that may be the address', 'subscriber,email\nAda Lovelace,ada@example.com\n'],
  ['the address in one column and nothing in another', 'email,recipient\nada@example.com,\n'],
  ['rows without anything', 'email;name\nada@example.com;Ada\n;\n  \n"";""\n'],
  [
    'a note that begins after the address',
    'email,note\nada@example.com,"it was ada@example.com\nwho left"\n',
  ],
  ['an address with a bar', 'email\nada@example.com\na|b@example.com\n'],
] as const)('a suppression list is read with %s', async ([, list]) => {
  await using harness = await openStagingHarness()
  const { summary } = await harness.stage(FILE, { suppress: await harness.file(list) })
  expect(summary).toMatchObject({ suppressed: 1, pending: 2 })
})

test('a row without a recipient that has something else is refused: who is meant cannot be known', async () => {
  await using harness = await openStagingHarness()
  const { message } = await harness.refusal(FILE, { suppress: await harness.file('email,name\n,Ada\n') })
  expect(message).toContain('line 2 (the row has no recipient)')
})

test('of a list in Latin-1 it is said how to convert it', async () => {
  await using harness = await openStagingHarness()
  const list = Buffer.from('email;name\nada@example.com;J\xfcrgen\n', 'latin1')
  const { message, whatToDo } = await harness.refusal(FILE, { suppress: await harness.file(list) })
  expect(message).toContain('line 2 (')
  expect(whatToDo).toContain('iconv -f ISO-8859-1 -t UTF-8')
})

test('a list of several columns of which none is known says how to call one', async () => {
  await using harness = await openStagingHarness()
  const suppress = await harness.file('phone,reason\n+447700,stop\n')
  const refused = await harness.refusal('recipient\n+447700\n', { method: 'sms', suppress })
  expect(refused.message).toContain('no column for the recipient; its columns are phone, reason')
  expect(refused.whatToDo).toContain('Call the column recipient')
})

test('a row inside each second cell is warned of, though each cell has one', async () => {
  await using harness = await openStagingHarness()
  const pairs = Array.from({ length: 20 }, (_, n) => `a${n}@example.com,"Bob\nb${n}@example.com,Bob"\n`)
  const { warnings } = await harness.stage(`email,nick\n${pairs.join('')}`)
  expect(warnings.join()).toContain(
    '20 lines that may name somebody are inside the quotes of other rows, first in line 2',
  )
})

test('notes before the address are no people', async () => {
  await using harness = await openStagingHarness()
  const rows = Array.from({ length: 20 }, (_, n) => `"left\non Monday",a${n}@example.com\n`)
  const { warnings } = await harness.stage(`note,email\n${rows.join('')}`)
  expect(warnings.join()).not.toContain('inside the quotes')
})

test('what is far too long for an address is not cleaned', () => {
  const long = `.${' '.repeat(200_000)}.`
  expect(cleanAddress(long)).toEqual({ address: long, cleaned: null })
})

test('of an e-mail list, a telephone number in the column called address names nobody', async () => {
  await using harness = await openStagingHarness()
  const list = 'address,email\n"1 Main St; (555) 123-4567",ada@example.com\n'
  const { summary } = await harness.stage(FILE, { suppress: await harness.file(list) })
  expect(summary).toMatchObject({ suppressed: 1 })
})

test('a blank line that is too long to be read is refused like each such line', async () => {
  await using harness = await openStagingHarness()
  const list = `email,name\nada@example.com,Ada\n${' '.repeat(2 << 20)}ben@example.com,Ben\n`
  const { message } = await harness.refusal(FILE, { suppress: await harness.file(list) })
  expect(message).toContain('line 3 (')
})

test('in a large file, three people inside the quotes of one row are more than a note, two are not', async () => {
  await using harness = await openStagingHarness()
  const others = Array.from({ length: 1_300 }, (_, n) => `p${n}@example.com,x\n`).join('')
  const warningsWith = async (lines: number) => {
    const note = Array.from({ length: lines }, (_, n) => `see x${n}@example.com`).join('\n')
    const rows = Array.from({ length: 12 / lines }, (_, n) => `a${n}@example.com,"of old:\n${note}"\n`)
    return (await harness.dryRun(`email,note\n${rows.join('')}${others}`)).warnings
  }
  expect(await warningsWith(2)).toEqual([])
  expect(await warningsWith(3)).toEqual([
    '12 lines that may name somebody are inside the quotes of other rows, first in line 2: they are not rows. If they should ' +
      'be, correct the quotes there.',
  ])
})
