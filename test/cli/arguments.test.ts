import { InvalidArgumentError } from 'commander'
import { expect, test } from 'vitest'
import { countUpTo, instantArgument } from '#src/cli/arguments.ts'

test('a port is a whole number from 0 to 65535', () => {
  const port = countUpTo(65_535)
  expect(['0', '1', '65535'].map(port)).toEqual([0, 1, 65_535])
  for (const text of ['65536', '-1', '', ' 80', '8e1', '80.0', '٨٠']) {
    expect(() => port(text)).toThrow(InvalidArgumentError)
  }
})

test('an age of any number of digits is read, and a time out of range is refused in words of its own', () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).getUTCFullYear()
  expect(instantArgument('100000d').getUTCFullYear()).toBe(daysAgo(100_000))
  expect(instantArgument('2400000h').getUTCFullYear()).toBe(daysAgo(100_000))
  for (const text of ['400000d', '99999999999h', `${'9'.repeat(400)}d`, '0999-12-31', '9999-01-01T00:00Z']) {
    expect(() => instantArgument(text), text).toThrow('The time is out of range')
  }
  for (const text of ['', 'd', '-1d', '1.5d', '7 d', '7w', '2026-02-30', '20260-01-01', 'undefined']) {
    expect(() => instantArgument(text), text).toThrow('Write a time or an age')
  }
})
