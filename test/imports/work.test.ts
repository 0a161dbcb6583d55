import { expect, test } from 'vitest'
import { setup } from './import-world.ts'

test('sends everybody once, in batches, and completes', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 25, batchRows: 10 })
  expect(await world.work(id)).toBe('completed')
  const delivered = world.delivered()
  expect(delivered.size).toBe(25)
  expect(new Set(delivered.values())).toEqual(new Set([1]))
  expect(await world.batches(id)).toMatchObject([
    { rows: 10, state: 'sent', from_line: '2', to_line: '11' },
    { rows: 10, state: 'sent' },
    { rows: 5, state: 'sent' },
  ])
  expect(world.calls()).toBe(3)
  expect(await world.importRow(id)).toMatchObject({ status: 'completed', accepted: 3, failures: 0 })
})

test('bisects to a row refused without being named', async () => {
  await using world = await setup()
  const id = await world.stage({
    rows: 40,
    batchRows: 20,
    recipient: line => (line === 13 ? 'not an address' : `p${line}@example.com`),
  })
  world.sandbox.state.onCall(() => undefined)
  expect(await world.work(id)).toBe('completed')
  expect(world.delivered().size).toBe(39)
  expect(await world.rejects(id)).toMatchObject([{ line: '13' }])
})
