import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Field, fieldsOf, matchColumns } from '#src/imports/staging/file/header.ts'
import { openStagingHarness, type StagingHarness } from './staging-harness.ts'

/*
 * A header may be none, and its cells hold addresses: a message about it names nobody, in whatever spelling the address is.
 */

let harness: StagingHarness
beforeAll(async () => {
  harness = await openStagingHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())
beforeEach(() => harness.discardAll())

const SPELLINGS = [
  'Ada Lovelace <ada@example.com>',
  'ada%40example.com',
  'ada&#64;example.com',
  'ada\\u0040example.com',
  'ada＠example.com',
  Buffer.from('ada@example.com').toString('base64'),
]
/** What would tell who it is. */
const ADA = new RegExp(['ada', 'lovelace', SPELLINGS.at(-1)].join('|'), 'i')

describe.each(SPELLINGS)('a cell of a header that holds %s', cell => {
  test('is an address in the error about a column that is missing, and is not proposed', async () => {
    const content = `${cell},Locale\nx,en-US\n`
    for (const options of [{}, { map: { recipient: 'Mail' } }]) {
      const { message, whatToDo } = await harness.refusal(content, options)
      expect(message).toContain('(an address), Locale.')
      expect(`${message} ${whatToDo}`).not.toMatch(ADA)
      expect(whatToDo).toContain('Locale')
    }
    const json = await harness.refusal(`${JSON.stringify({ [cell]: 'x', Locale: 'en-US' })}\n`)
    expect(json.message).toContain('(an address)')
    expect(`${json.message} ${json.whatToDo}`).not.toMatch(ADA)
  })

  test('is an address in the error about a column that is there twice', () => {
    const field = { ...fieldsOf(null, { recipient: cell })[0] } as Field
    const refused = (header: readonly string[]) => () => matchColumns(header, [field])
    expect(refused([cell, cell])).toThrow('The header has the column (an address) more than once')
  })

  test('is an address among the columns that are not read, and in the warning about a status', async () => {
    const status = `status of ${cell}`
    const staged = await harness.stage(`email,${cell},${status},confirmed\nbob@example.com,x,y,true\n`)
    expect(staged.file.unused).toEqual(['(an address)', '(an address)', 'confirmed'])
    const [warning, ...others] = staged.warnings
    expect(warning).toMatch(/^\(an address\), confirmed are not read\. If that says who/)
    expect([warning, ...others].join()).not.toMatch(ADA)
  })
})

test('a long name of a column is cut off in a message', async () => {
  const { message } = await harness.refusal(`${'x'.repeat(100)},Locale\nx,en-US\n`)
  expect(message).toMatch(/[^x]x{59,60}…?, Locale\./)
})

test('a component that holds an address is no example in a warning; one that does not is', async () => {
  const sample = async (...ids: readonly string[]) => {
    const rows = ids.map((id, n) => `person${n}@example.com,${id}\n`)
    const header = 'email,component_ids\n'
    const staged = await harness.stage(`${header}${rows.join('')}`, { from: 'statuspage' })
    const [warning = ''] = staged.warnings.filter(text => text.includes('--components FILE'))
    return warning
  }
  expect(await sample('kf0dgjdwzq2f')).toContain('(such as kf0dgjdwzq2f)')
  for (const spelling of SPELLINGS.slice(1)) {
    const warning = await sample(spelling)
    expect(warning).toContain('names components of')
    expect(warning).not.toMatch(ADA)
  }
  expect(await sample(SPELLINGS.at(-1)!.replaceAll('=', ''))).toContain('(such as (an address))')
})
