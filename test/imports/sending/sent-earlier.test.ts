import { expect, test } from 'vitest'
import { resumeImport } from '#src/imports/control/decide.ts'
import { ADA } from '#test/support/acted-by.ts'
import { OTHER_PAGE, openImportHarness } from '../import-harness.ts'

test('whoever an earlier import sent to the page is left out', async () => {
  await using harness = await openImportHarness()
  await harness.work(await harness.stage({ rows: 5 }))
  const id = await harness.stage({ rows: 8 })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 8 })
  expect(await harness.importRow(id)).toMatchObject({ read: 8, recipients: 3 })
  const leftOut = await harness.query(
    'select kind, earlier_import from ferry.import_left_out where import_id = $1',
    [id],
  )
  expect(leftOut).toEqual(Array(5).fill({ kind: 'already imported', earlier_import: '1' }))
})

test('another page, or another method, is another list', async () => {
  await using harness = await openImportHarness()
  harness.sandbox.state.subscribers.addPage(OTHER_PAGE)
  await harness.work(await harness.stage({ rows: 5 }))
  await harness.work(await harness.stage({ rows: 5, pageId: OTHER_PAGE }))
  await harness.work(await harness.stage({ rows: 5, method: 'im' }))
  expect(harness.calls()).toBe(3)
})

test('an update sends those whose settings differ from what was sent last', async () => {
  await using harness = await openImportHarness()
  await harness.work(await harness.stage({ rows: 5 }))
  const changed = (...componentIds: string[]) =>
    harness.stage({
      rows: 5,
      update: true,
      settings: line => (line === 2 ? { locale: 'de-DE' } : line === 3 ? { componentIds } : {}),
    })
  await harness.work(await changed('A', 'B'))
  expect(harness.timesDelivered()).toEqual({ once: 3, twice: 2 })

  const third = await changed('B', 'A')
  await harness.work(third)
  expect(await harness.importRow(third)).toMatchObject({ recipients: 0, status: 'completed' })
})

test('the same rows imported twice at once are sent once', async () => {
  await using harness = await openImportHarness({ answerMs: 20 })
  const ids = [
    await harness.stage({ rows: 30, batchRows: 5 }),
    await harness.stage({ rows: 30, batchRows: 5 }),
  ]
  const other = await harness.openFerry()
  const ends = new Set<string>()
  while (ends.size < 2) {
    const [id, ferry] = [
      ids[Math.floor(Math.random() * 2)]!,
      [harness.ferry, other][Math.floor(Math.random() * 2)]!,
    ]
    if ((await harness.work(id, { ferry })) === 'completed') ends.add(`${id}`)
  }
  expect(harness.timesDelivered()).toEqual({ once: 30 })
})

test('an import that was paused half-way leaves out whom a later one has sent meanwhile', async () => {
  await using harness = await openImportHarness()
  const first = await harness.stage({ rows: 20, batchRows: 5, firstRows: 5 })
  const second = await harness.stage({ rows: 20, batchRows: 5 })
  expect(await harness.work(first)).toBe('paused')
  expect(await harness.work(second)).toBe('completed')
  await resumeImport(harness.ferry.pool, first, ADA)
  expect(await harness.work(first)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 20 })
})
