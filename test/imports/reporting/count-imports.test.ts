import { expect, test } from 'vitest'
import { countImports } from '#src/imports/reporting/summary.ts'
import { putBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

test('each row of all imports is counted once: what is uncertain is not pending', async () => {
  await using store = await openTestStore()
  for (const pageId of [1n, 2n]) {
    const id = await stageRows(store.pool, { rows: 6, pageId })
    await putBatches(store.pool, id, [
      { lines: 3, state: 'sent' },
      { lines: 2, state: 'uncertain', uncertain: true },
    ])
  }
  await stageRows(store.pool, { rows: 5, account: 'another' })
  expect(await countImports(store.pool)).toMatchObject([
    { account: 'another', imports: 1, sent: 0, uncertain: 0, pending: 5 },
    { account: 'default', imports: 2, sent: 6, uncertain: 4, pending: 2 },
  ])
})
