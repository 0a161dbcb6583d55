import { expect, test } from 'vitest'
import { isLoopback } from '#src/model/loopback.ts'

test.each([
  '127.0.0.1',
  '127.255.255.254',
  '::1',
  '[::1]',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  '::FFFF:7f00:1',
  'localhost',
  'LocalHost',
])('%s is this machine', host => {
  expect(isLoopback(host)).toBe(true)
})

test.each([
  '',
  '127.evil',
  '127.0.0.1.evil.example',
  '127.1',
  '127.0.0.256',
  '127.0.0.01',
  '1127.0.0.1',
  '2130706433',
  '126.0.0.1',
  '128.0.0.1',
  '0.0.0.0',
  '::',
  '::127.0.0.1',
  '::ffff:128.0.0.1',
  '::2',
  '[127.0.0.1]',
  '[::1]:80',
  'localhost.',
  'localhost.evil.example',
  'sub.localhost',
  ' localhost',
  'localhost:80',
])('%j is not', host => {
  expect(isLoopback(host)).toBe(false)
})
