import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  asksForAll,
  BadQuery,
  href,
  idIn,
  idOf,
  MAX_ID,
  narrowed,
  parsedQuery,
} from '#src/http/console/page.ts'
import { PAGE_ROWS, pager, readCursor, writeCursor } from '#src/http/console/parts/paging.ts'

const SHAPE = z.object({
  kind: z.enum(['added', 'removed']).optional(),
  name: z.string().max(3).optional(),
  folder: idIn('a folder', 99n).optional(),
})
const LONG = 'x'.repeat(60)

/** What the page says of a wrong address. */
function refusalOf(read: () => unknown): string {
  try {
    return `taken: ${JSON.stringify(read(), (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`
  } catch (error) {
    if (error instanceof BadQuery) return error.message
    throw error
  }
}

test.for([
  ['kind=added&name=abc&folder=99', 'taken: {"kind":"added","name":"abc","folder":"99n"}'],
  ['kind=&name=&folder=', 'taken: {}'],
  ['after=x', 'taken: {}'],
  ['kind=changed', 'The address is wrong: kind: write added or removed.'],
  ['name=abcd', 'The address is wrong: name: it is longer than 3 characters.'],
  ['folder=100', 'The address is wrong: folder: write the number of a folder.'],
  ['folder=-1', 'The address is wrong: folder: write the number of a folder.'],
  ['folder=000000000000000000001', 'The address is wrong: folder: write the number of a folder.'],
  ['name=a&name=b', 'The address is wrong: name: it is given more than once.'],
  [`${LONG}=a&${LONG}=b`, `The address is wrong: ${LONG.slice(0, 50)}: it is given more than once.`],
  [`${LONG}=a`, `The address is wrong: this page has no parameter named ${LONG.slice(0, 50)}.`],
  ['name=a%00', 'The address is wrong: name: it contains U+0000.'],
] as const)('the query %s is read so: %s', ([query, words]) => {
  expect(refusalOf(() => parsedQuery(new URLSearchParams(query), SHAPE))).toBe(words)
})

test('a place that is none in a list is refused, and it is said where to begin', () => {
  const words = 'The address is wrong: after: is not a place in this list. Begin at its first page.'
  const read = (after: string) =>
    refusalOf(() => readCursor(new URLSearchParams({ after }), z.tuple([z.string()])))
  for (const wrong of ['x', writeCursor([1]), writeCursor([])]) expect(read(wrong)).toBe(words)
  expect([read(writeCursor(['a'])), read('')]).toEqual(['taken: ["a"]', 'taken: null'])
})

test('the numbers of runs, imports and events are those that Postgres has', () => {
  const largest = '9223372036854775807'
  expect([largest, '0', '007'].map(idOf)).toEqual([MAX_ID, 0n, 7n])
  for (const wrong of ['9223372036854775808', '1'.repeat(20), '-1', '1e3', ' 1', '', undefined])
    expect(idOf(wrong), wrong).toBeNull()
})

test('an address has what is given, encoded; narrowed further, it begins at the first page', () => {
  expect(href('/rules')).toBe('/rules')
  expect(href('/rules', { a: 'x&y', b: null, c: undefined, d: '' })).toBe('/rules?a=x%26y&d=')
  const query = new URLSearchParams('account=a&folder=7&after=x')
  expect(narrowed('/rules', query, { folder: '8', team: 'b' })).toBe('/rules?account=a&folder=8&team=b')
  expect(narrowed('/rules', query, { folder: null })).toBe('/rules?account=a')
})

test.for([
  ['', true],
  ['status=&account=', true],
  ['status=&account=a', false],
  ['after=x', false],
] as const)('%s asks for all from the first page: %s', ([query, isAll]) => {
  expect(asksForAll(new URLSearchParams(query))).toBe(isAll)
})

test.for([
  ['a=1', null, ''],
  [
    'a=1',
    'NEXT',
    '<nav class="pager" aria-label="Pages of this list">\n\n<a rel="next" href="/rules?a=1&amp;after=NEXT">Next page</a>\n</nav>',
  ],
  [
    'a=1&after=x',
    'NEXT',
    '<nav class="pager" aria-label="Pages of this list">\n<a href="/rules?a=1">First page</a>\n<a rel="next" href="/rules?a=1&amp;after=NEXT">Next page</a>\n</nav>',
  ],
  [
    'after=x',
    null,
    '<nav class="pager" aria-label="Pages of this list">\n<a href="/rules">First page</a>\n<span>End of the list.</span>\n</nav>',
  ],
] as const)(
  'below the page of a list that %s asks for, with %s after it, stand the ways to others',
  ([query, next, links]) => {
    expect(PAGE_ROWS).toBe(50)
    expect(`${pager('/rules', new URLSearchParams(query), next) ?? ''}`).toBe(links)
  },
)
