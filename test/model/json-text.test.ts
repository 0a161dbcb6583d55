import { expect, test } from 'vitest'
import { jsonOf } from '#src/model/json-text.ts'
import { inSingleQuotes } from '#src/model/shell-word.ts'

test('ids are texts in JSON, and no character in it is a command to a terminal or turns the text', () => {
  const value = {
    id: 2n ** 64n - 1n,
    ids: [1n],
    n: 7,
    text: 'é\u007f\u009b31m\u2028\u2029\u202e\u2066\u061c"\n\u001b',
  }
  const json = jsonOf(value)
  expect(json).toBe(
    String.raw`{"id":"18446744073709551615","ids":["1"],"n":7,"text":"é\u007f\u009b31m\u2028\u2029\u202e\u2066\u061c\"\n\u001b"}`,
  )
  expect(JSON.parse(json)).toEqual({ ...value, id: '18446744073709551615', ids: ['1'] })
})

test('a word of a shell stands between single quotes, whatever is in it', () => {
  expect(['plain', "it's", '$(rm) `x` "y"', "''"].map(inSingleQuotes)).toEqual([
    "'plain'",
    String.raw`'it'\''s'`,
    '\'$(rm) `x` "y"\'',
    String.raw`''\'''\'''`,
  ])
})
