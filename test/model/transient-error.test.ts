import { expect, test } from 'vitest'
import { isTransient } from '#src/model/transient-error.ts'

const errorOf = (code: unknown, message = 'it failed') => Object.assign(new Error(message), { code })

test.for([
  ['08006', true],
  ['08P01', true],
  ['28P01', true],
  ['28000', false],
  ['25006', true],
  ['25P03', true],
  ['25P04', true],
  ['25P02', false],
  ['40001', true],
  ['40P01', true],
  ['53300', true],
  ['55P03', true],
  ['55006', false],
  ['57P01', true],
  ['57014', false],
  ['23505', false],
  ['42501', false],
  ['EPIPE', true],
  ['ECONNRESET', true],
  ['ETIMEDOUT', true],
  ['EAI_AGAIN', true],
  ['ERR_ASSERTION', false],
  ['FE001', false],
] as const)('an error of code %s passes by itself: %s', ([code, passes]) => {
  expect(isTransient(errorOf(code))).toBe(passes)
})

test('an error without a code passes by itself if its message is about a connection', () => {
  const messages = ['Connection terminated unexpectedly', 'Socket closed', 'Query read timeout', 'it failed']
  expect(messages.map(message => isTransient(new Error(message)))).toEqual([true, true, true, false])
  expect(isTransient(errorOf('23505', 'no connection'))).toBe(false)
  expect([null, 'connect', { code: '08006' }].map(isTransient)).toEqual([false, false, false])
})
