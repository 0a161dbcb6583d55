import { Command, InvalidArgumentError } from 'commander'
import { expect, test } from 'vitest'
import {
  countUpTo,
  instantArgument,
  labelArgument,
  mapArgument,
  mapLocaleArgument,
} from '#src/cli/arguments.ts'
import { addFilters } from '#src/cli/list-command.ts'

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

test('words that are empty narrow nothing down, and are refused', () => {
  const filterOf = (words: string) => {
    const command = new Command().exitOverride().configureOutput({ writeErr: () => {} })
    const filterFrom = addFilters(command, {
      match: { kind: 'text', label: 'Words', option: ['--match <words>', ''] },
    })
    return filterFrom(command.parse(['--match', words], { from: 'user' }).opts())
  }
  expect(filterOf('checkout api')).toEqual({ match: 'checkout api' })
  for (const words of ['', ' ']) expect(() => filterOf(words)).toThrow('leave the option out')
})

test.each([
  ['a label', labelArgument, 'team', 'Write a label and its value'],
  ['a mapped field', mapArgument, 'recipient=', 'Write a field and the column'],
  ['a mapped locale', mapLocaleArgument, 'de=', 'Write the value in the file and the locale'],
])('%s may be repeated, but not given twice', (_, read, wrong, why) => {
  const both = read('b=2', read('a=1'))
  expect(both).toEqual({ a: '1', b: '2' })
  expect(() => read('a=3', both)).toThrow(/a is (?:given|mapped) twice/)
  for (const text of [wrong, '=1', '']) expect(() => read(text), text).toThrow(why)
})
