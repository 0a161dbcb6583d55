import { expect, test } from 'vitest'
import { codeAside, reasonOf } from '#src/model/reason.ts'

test('a reason is the message of an error, else its code, else its name, and never another field', () => {
  const withCode = (message: string, more: object) => Object.assign(new Error(message), more)
  expect(
    [
      withCode('refused', { code: 'ECONNREFUSED', query: 'secret' }),
      withCode('', { code: 'ECONNREFUSED' }),
      withCode('', { code: 42 }),
      new TypeError(''),
      'a text',
      7,
      null,
      undefined,
    ].map(reasonOf),
  ).toEqual(['refused', 'ECONNREFUSED', '42', 'TypeError', 'a text', '7', 'null', 'undefined'])
})

test('a code stands beside a message that does not contain it', () => {
  expect(codeAside('NoPermission', 'may not')).toBe(' (NoPermission)')
  expect(codeAside('NoPermission', 'NoPermission: may not')).toBe('')
  expect(codeAside('NoPermission', null)).toBe(' (NoPermission)')
  expect(codeAside(null, 'may not')).toBe('')
})
