import { expect, test } from 'vitest'
import { confirmImport } from '#src/imports/control/decide.ts'
import { ADA } from '#test/support/acted-by.ts'
import { putEqualBatches } from '#test/support/batches.ts'
import { openStagingHarness } from './staging-harness.ts'

test('counting two hundred thousand takes seconds, whoever they were sent by', async () => {
  await using harness = await openStagingHarness()
  const people = ['recipient', ...Array.from({ length: 200_000 }, (_, n) => `p${n}@example.com`)].join('\n')
  const { import: id } = await harness.stage(people)
  await confirmImport(harness.store.pool, id!, ADA)
  await putEqualBatches(harness.store.pool, id!, { batches: 2_000, rows: 100 })
  for (const update of [false, true]) {
    // Rows times rows, or rows times batches, would take longer than this test may.
    const said = await harness.dryRun(people, { update })
    expect(said.summary).toMatchObject({ alreadyImported: 200_000, pending: 0 })
  }
})
