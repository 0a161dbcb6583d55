import { expect, test } from 'vitest'
import { type ImportCounts, missingOf } from '#src/model/import.ts'

const NONE: ImportCounts = {
  read: 0,
  sent: 0,
  rejected: 0,
  duplicate: 0,
  suppressed: 0,
  alreadyImported: 0,
  uncertain: 0,
  pending: 0,
}

test('every row read is in exactly one place: each kind of place counts, once', () => {
  expect(missingOf(NONE)).toBe(0)
  for (const kind of Object.keys(NONE) as (keyof ImportCounts)[]) {
    expect([kind, missingOf({ ...NONE, [kind]: 3 })]).toEqual([kind, kind === 'read' ? 3 : -3])
  }
})
