import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ImportOptions } from '#src/imports/staging/options.ts'
import { rejectsText } from '../rejects-text.ts'
import { openStagingHarness, type StagingHarness } from '../staging/staging-harness.ts'

/* Files whose columns have the names that Ferry gives to its own in a file of rejects. */

let harness: StagingHarness
beforeAll(async () => {
  harness = await openStagingHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())
beforeEach(() => harness.discardAll())

async function rejectsOf(content: string, options: Partial<ImportOptions>): Promise<string> {
  const { summary, import: id } = await harness.stage(content, { all: false, ...options })
  expect(summary).toMatchObject({ read: 2, rejected: 1, pending: 1 })
  const { text } = await rejectsText(harness.store.pool, id)
  await harness.discardAll()
  return text
}

const COMPONENTS = { map: { component_ids: 'line' } }
const OF_OTHER_NAMES = 'ferry_line,ferry_reason,ferry_message,ferry_request_id'

test.for([
  [
    'a CSV with one of the names',
    'email,locale,line\nk1@example.com,xx,777\nk2@example.com,en-US,777\n',
    `email,locale,line,${OF_OTHER_NAMES}\nk1@example.com,xx,777,2,not a locale,`,
  ],
  [
    'a CSV whose last columns are all of them',
    'email,locale,line,reason,message,request_id\nk1@example.com,xx,777,a,b,c\nk2@example.com,en-US,777,d,e,f\n',
    `email,locale,line,reason,message,request_id,${OF_OTHER_NAMES}\nk1@example.com,xx,777,a,b,c,2,not a locale,`,
  ],
  [
    'NDJSON with one of the names',
    '{"email":"k1@example.com","locale":"xx","line":"777"}\n{"email":"k2@example.com","locale":"en-US","line":"777"}\n',
    '{"email":"k1@example.com","locale":"xx","line":"777","ferry_line":1,"ferry_reason":"not a locale",',
  ],
  [
    'NDJSON with all of them',
    '{"email":"k1@example.com","locale":"xx","line":"777","reason":"a","message":"b","request_id":"c"}\n{"email":"k2@example.com","locale":"en-US","line":"777"}\n',
    '{"email":"k1@example.com","locale":"xx","line":"777","reason":"a","message":"b","request_id":"c","ferry_line":1,',
  ],
] as const)(
  'what is read from a column of such a name is read from it again: %s',
  async ([, content, expected]) => {
    const text = await rejectsOf(content, COMPONENTS)
    expect(text.slice(0, expected.length)).toBe(expected)
    for (const locale of ['en-US', 'yy']) {
      const again = await harness.stage(text.replace(/\bxx\b/, locale), { all: false, ...COMPONENTS })
      expect(again.file.mapped.component_ids).toBe('line')
      if (locale === 'en-US') {
        expect(await harness.recipients()).toMatchObject([{ recipient: 'k1@example.com', ids: ['777'] }])
        expect(again.file.unused.filter(name => name.startsWith('ferry'))).toEqual([])
      }
      await harness.discardAll()
    }
    const twice = await rejectsOf(
      `${text}${text
        .trimEnd()
        .split('\n')
        .at(-1)
        ?.replace(/\bxx\b/, 'en-US')
        .replace('k1@', 'k3@')}\n`,
      COMPONENTS,
    )
    expect(twice).toBe(text)
  },
)

test('a column that is not read keeps its values beside those of Ferry', async () => {
  const content = 'email,locale,reason,line\nk1@example.com,xx,why,5\nk2@example.com,en-US,why,6\n'
  expect(await rejectsOf(content, { all: true })).toMatch(
    new RegExp(`^email,locale,reason,line,${OF_OTHER_NAMES}\nk1@example.com,xx,why,5,2,not a locale,`),
  )
})
