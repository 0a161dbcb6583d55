import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AnswerTooLarge, MAX_ANSWER_BYTES, MAX_ROW_BYTES } from '#src/platform/read-body.ts'
import { RowScanner } from '#src/platform/row-scanner.ts'

/** What a scanner finds in a text that comes in these chunks, or null if it is no valid JSON. `tried` gets what it took for rows. */
function scan(chunks: readonly Buffer[], path: readonly string[] = ['data'], tried: (string | null)[] = []) {
  let rows: unknown[] = []
  const scanner = new RowScanner(path, {
    restart() {
      rows = []
    },
    row(text) {
      tried.push(text?.toString('utf8') ?? null)
      try {
        rows.push(text === null ? 'too long' : JSON.parse(text.toString('utf8')))
        return true
      } catch {
        return false
      }
    },
  })
  for (const chunk of chunks) scanner.write(chunk)
  try {
    const around: unknown = JSON.parse(scanner.end().toString('utf8'))
    // A text may have the member twice: the last one counts.
    const isList = Array.isArray(path.reduce<unknown>((at, key) => own(at, key), around))
    return { rows: isList ? rows : [], around }
  } catch {
    return null
  }
}

/** The same by parsing the whole: the rows if there are any, and the rest with an empty array in their place. */
function parseWhole(text: Buffer, path: readonly string[] = ['data']): ReturnType<typeof scan> {
  try {
    const around: unknown = JSON.parse(text.toString('utf8'))
    const last = path.length - 1
    let at = around as Record<string, unknown>
    for (const key of path.slice(0, last)) at = own(at, key) as Record<string, unknown>
    const rows = own(at, path[last] ?? '')
    if (!Array.isArray(rows)) return { rows: [], around }
    return { rows: rows.splice(0), around }
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function own(object: unknown, key: string): unknown {
  const isObject = typeof object === 'object' && object !== null && !Array.isArray(object)
  return isObject && Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined
}

function cut(text: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  let at = 0
  for (let n = 0; at < text.length; n++) {
    const size = sizes.length === 0 ? text.length : (sizes[n % sizes.length] ?? 1)
    chunks.push(text.subarray(at, at + size))
    at += size
  }
  return chunks
}

const space = fc.constantFrom('', '', '', ' ', '\n', '\t\r ')
const key = fc.constantFrom(
  'data',
  'request_id',
  'error',
  'd\\u0061ta',
  'servers',
  '',
  '__proto__',
  'a\\"b',
  '\\\\',
)
const text = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', 'ü', '\0') }),
  )
  .map(value => JSON.stringify(value))
const scalar = fc.oneof(
  text,
  fc.constantFrom('null', 'true', 'false', '0', '-1.5e3', '18446744073709551615', '"\\ud800"'),
)
const { value } = fc.letrec<{ value: string; array: string; object: string }>(tie => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, tie('array'), tie('object')),
  array: fc
    .tuple(space, fc.array(tie('value'), { maxLength: 4 }), space)
    .map(([before, items, after]) => `[${before}${items.join(`${after},${before}`)}${after}]`),
  object: fc
    .tuple(space, fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }), space)
    .map(
      ([a, members, b]) =>
        `{${a}${members.map(([name, item]) => `"${name}"${b}:${a}${item}`).join(`${b},`)}${b}}`,
    ),
}))
/** A row that begins like the others, with what looks like the end of a row within. */
const alike = fc
  .array(
    fc.oneof(scalar, fc.constantFrom('{"id":1}', '[{"id":1},{"id":2}]', '"},{\\"id\\":"', '[]},{"id":3')),
    {
      maxLength: 3,
    },
  )
  .map(items => `{"id":${['0', ...items.map((item, n) => `"${n}":${item}`)].join(',')}}`)
const rows = fc
  .tuple(fc.array(fc.oneof(value, alike, alike, alike), { maxLength: 8 }), space)
  .map(([items, blank]) => `[${items.join(`${blank},${blank}`)}]`)
const listing = fc
  .tuple(
    fc.array(fc.tuple(key, value), { maxLength: 3 }),
    rows,
    fc.array(fc.tuple(key, value), { maxLength: 2 }),
    space,
  )
  .map(([before, data, after, blank]) => {
    const members = [...before, ['data', data] as const, ...after]
    return `${blank}{${members.map(([name, item]) => `"${name}":${blank}${item}`).join(`${blank},`)}}${blank}`
  })
const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 200 })), {
  maxLength: 5,
})

test('finds the same rows as parsing the whole, however the text is cut', () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 4, arbitrary: listing }, value), sizes, (json, chunks) => {
      const bytes = Buffer.from(json)
      expect(scan(cut(bytes, chunks))).toEqual(parseWhole(bytes))
    }),
    { numRuns: 3_000 },
  )
})

test('takes for broken what parsing the whole takes for broken', () => {
  const damage = fc.record({
    at: fc.nat(),
    length: fc.nat({ max: 3 }),
    by: fc.constantFrom('', ',', ']', '[', '{', '}', '"', '\\', ':', ' ', '1', 'null', '\0', ',,', '\ufeff'),
  })
  const outcomes = { broken: 0, whole: 0 }
  fc.assert(
    fc.property(listing, damage, sizes, (json, { at, length, by }, chunks) => {
      const from = at % (json.length + 1)
      const bytes = Buffer.from(json.slice(0, from) + by + json.slice(from + length))
      const expected = parseWhole(bytes)
      outcomes[expected ? 'whole' : 'broken'] += 1
      expect(scan(cut(bytes, chunks))).toEqual(expected)
    }),
    { numRuns: 5_000 },
  )
  expect(Math.min(outcomes.broken, outcomes.whole)).toBeGreaterThan(500)
})

test('finds rows deeper down', () => {
  const page = Buffer.from(
    '{"data":{"servers":[{"a":[1]},2],"total":2,"more":{"servers":[3]}},"servers":[4]}',
  )
  for (let size = 1; size < page.length; size++) {
    expect(scan(cut(page, [size]), ['data', 'servers'])).toEqual(parseWhole(page, ['data', 'servers']))
  }
  expect(scan([page], ['data', 'servers'])?.rows).toEqual([{ a: [1] }, 2])
})

test('bytes that are no UTF-8 are read as in the whole', () => {
  const bytes = Buffer.concat([
    Buffer.from('{"request_id":"r\u00fc","data":["'),
    Buffer.from([0xe2, 0x82]),
    Buffer.from('","ü"]}'),
  ])
  for (let size = 1; size < bytes.length; size++) expect(scan(cut(bytes, [size]))).toEqual(parseWhole(bytes))
})

test('the end of a row is guessed from the beginning of the next one, until a guess of the chunk was wrong', () => {
  const tried: (string | null)[] = []
  const rows = [
    '{"id":1}',
    '{"id":2,"of":[{"id":3},{"id":4}]}',
    '{"id":5,"of":[{"id":6},{"id":7}]}',
    '{"id":8}',
  ]
  const text = Buffer.from(`{"data":[${rows.join(',')}]}`)
  expect(scan([text], ['data'], tried)).toEqual(parseWhole(text))
  const [one, two, ...others] = rows
  expect(tried).toEqual([one, '{"id":2,"of":[{"id":3}', two, ...others])
})

test('a row beyond the bound is not kept, and those after it are found', () => {
  const long = (length: number) => `"${'x'.repeat(length - 2)}"`
  const text = (length: number) => Buffer.from(`{"data":[1,${long(length)},{"a":2}]}`)
  expect(scan([text(MAX_ROW_BYTES)])?.rows[1]).toHaveLength(MAX_ROW_BYTES - 2)
  for (const size of [1_000, 70_000, 3_000_000]) {
    expect(scan(cut(text(MAX_ROW_BYTES + 1), [size]))?.rows).toEqual([1, 'too long', { a: 2 }])
  }
  const object = `{"a":${long(MAX_ROW_BYTES)}}`
  expect(scan([Buffer.from(`{"data":[{"a":1},${object},{"a":2}]}`)])?.rows).toEqual([
    { a: 1 },
    'too long',
    { a: 2 },
  ])
})

test('what is around the rows has a bound', () => {
  const chunks = [Buffer.from('{"data":[],"x":"'), Buffer.alloc(MAX_ANSWER_BYTES, 'x'), Buffer.from('"}')]
  expect(() => scan(chunks)).toThrow(AnswerTooLarge)
})

test('a string is the key of the first colon after it alone, so that it is decoded once', () => {
  const tried: (string | null)[] = []
  const rows = Buffer.from('{"data"::[{"a":1}]}')
  for (const size of [1, rows.length]) expect(scan(cut(rows, [size]), ['data'], tried)).toBeNull()
  expect(tried).toEqual([])
})

test('the place of a damage is after the last whole row of the list that counts', () => {
  const damageOf = (...chunks: readonly string[]) => {
    const scanner = new RowScanner(['data'], { restart() {}, row: () => true })
    for (const chunk of chunks) scanner.write(Buffer.from(chunk))
    return scanner.damage()
  }
  const after = (rows: string, bytes: number) =>
    `${rows} whole, and what follows after ${bytes} bytes (unpacked) is damaged or cut off`
  expect(damageOf('{"data":[1,2]}')).toBeNull()
  expect(damageOf('{"data":[1,2,')).toBe(after('2 rows of the list are', 12))
  expect(damageOf('{"data":[1', ',2 3]}')).toBe(after('2 rows of the list are', 13))
  expect(damageOf('{"data":[1,2],"data":[3 4]}')).toBe(after('1 row of the list is', 24))
})
