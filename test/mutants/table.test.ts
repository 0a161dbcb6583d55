import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { applyMutant, readTables } from './table.ts'

const ROOT = join(import.meta.dirname, '../..')

test('every mutant can be applied to the code as it is, and names tests that exist', () => {
  const mutants = readTables()
  const stale = mutants.flatMap(mutant => {
    const applied = applyMutant(ROOT, mutant)
    return 'stale' in applied ? [`${mutant.name}: ${applied.stale}`] : []
  })
  const lacking = mutants.flatMap(({ name, tests }) =>
    tests.filter(file => !existsSync(join(ROOT, file))).map(file => `${name}: there is no ${file}`),
  )
  expect([...stale, ...lacking]).toEqual([])
})
