import { expect, test } from 'vitest'
import { wakeWorkersFor } from '#src/cli/queue.ts'
import type { Ferry } from '#src/ferry.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'

test('a queue that does not answer is a warning with its reason: the import is there, and a worker finds it', async () => {
  await using harness = await openFerryHarness({ rules: 1, servers: 1 })
  const said: unknown[] = []
  const log = { warn: (fields: object, words: string) => said.push([fields, words]) }
  const query = async () => Promise.reject(new Error('the database is gone'))
  await wakeWorkersFor({ ...harness.ferry, pool: { query }, log } as never as Ferry, 7n)
  expect(said).toEqual([
    [
      { import: 7n, error: 'the database is gone' },
      'The queue does not answer; a worker finds the import by itself.',
    ],
  ])
})
