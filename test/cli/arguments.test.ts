import { InvalidArgumentError } from 'commander'
import { expect, test } from 'vitest'
import { countUpTo } from '#src/cli/arguments.ts'

test('a port is a whole number from 0 to 65535', () => {
  const port = countUpTo(65_535)
  expect(['0', '1', '65535'].map(port)).toEqual([0, 1, 65_535])
  for (const text of ['65536', '-1', '', ' 80', '8e1', '80.0', '٨٠']) {
    expect(() => port(text)).toThrow(InvalidArgumentError)
  }
})
