import { expect, test } from 'vitest'
import { resumeImport } from '#src/imports/control/decide.ts'
import { ADA } from '#test/support/acted-by.ts'
import { bad, NAMELESS, openImportHarness } from '../import-harness.ts'

test('more than 1 % rejects pause it, and resumed it goes on', async () => {
  await using harness = await openImportHarness({}, { FERRY_IMPORT_LIMIT: '500/1s' })
  const found = bad(...Array.from({ length: 15 }, (_, n) => 2 + n * 20))
  harness.sandbox.state.onCall(call => {
    const [first] = found(call)
    return first ? { ...NAMELESS, message: `${first} is no good` } : undefined
  })
  const id = await harness.stage({ rows: 600, batchRows: 60 })
  expect(await harness.work(id)).toBe('paused')
  expect(await harness.importRow(id)).toMatchObject({ pause_code: 'TooManyRejects' })
  const rejected = (await harness.rejects(id)).length
  expect(rejected).toBeGreaterThan(10)
  await resumeImport(harness.ferry.pool, id, ADA)
  expect(await harness.work(id)).toBe('completed')
  expect(await harness.rejects(id)).toHaveLength(15)
  expect(harness.timesDelivered()).toEqual({ once: 585 })
})
