import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCode } from './code.ts'
import { faultOf, makeMutant } from './make.ts'
import { readTables } from './table.ts'

const ROOT = join(import.meta.dirname, '../..')

test('every mutant can be made of the code as it is, and names tests that exist', () => {
  const code = openCode(ROOT)
  const faults = readTables(ROOT).flatMap(({ name, change, tests }) => {
    const made = makeMutant(code, change)
    const fault = 'stale' in made ? made.stale : faultOf(made)
    const lacking = tests
      .filter(file => !file.endsWith('.test.ts'))
      .map(file => `no test file, or several, is named ${file}`)
    return [...(fault === null ? [] : [fault]), ...lacking].map(fault => `${name}: ${fault}`)
  })
  expect(faults).toEqual([])
})
