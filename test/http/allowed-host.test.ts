import { expect, test } from 'vitest'
import { isAllowedHost } from '#src/http/allowed-host.ts'

test.each([
  undefined,
  '127.0.0.1',
  '127.0.0.1:3377',
  '10.0.0.7:80',
  '[::1]:3377',
  '[fe80::1]',
  'localhost',
  'LocalHost:3377',
  'ferry.internal:3377',
])('%s is answered', host => {
  expect(isAllowedHost(host, ['ferry.internal'])).toBe(true)
})

test.each([
  '',
  'evil.example',
  'evil.example:3377',
  'localhost.evil.example',
  'localhost.',
  'evil.example/localhost',
  'a@localhost',
  'localhost:3377:1',
  '127.0.0.1.evil.example',
  '127.1',
  '2130706433',
  '::1',
  '[evil.example]',
  '[127.0.0.1]',
  'sub.ferry.internal',
])('%j is not', host => {
  expect(isAllowedHost(host, ['ferry.internal'])).toBe(false)
})
