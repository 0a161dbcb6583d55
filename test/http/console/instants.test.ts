import { expect, test } from 'vitest'
import { PAGES } from '#src/http/console/pages.ts'
import { writeCursor } from '#src/http/console/parts/paging.ts'
import { openConsoleHarness } from './console-harness.ts'

/** Two of each kind that Postgres or Date do not take; `parseInstant` has a table of all. */
const WRONG = [
  '0000-01-01',
  '0000-01-01T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  'infinity',
  '2026-02-30T00:00',
]

test('an instant that nobody can mean is a wrong address on every page, whatever parameter has it', async () => {
  await using harness = await openConsoleHarness()
  await harness.sync()
  const lists = PAGES.map(({ path }) => path).filter(path => !path.includes(':'))
  expect(lists.length).toBeGreaterThan(15)
  let refused = 0
  for (const path of lists) {
    for (const name of ['since', 'until', 'from', 'to', 'at', 'night', 'as_of']) {
      for (const value of WRONG) {
        const { status, text } = await harness.page(`${path}?${new URLSearchParams({ [name]: value })}`)
        // A few pages take no parameters at all, and ignore them.
        if (status === 200) continue
        expect([path, name, value, status]).toEqual([path, name, value, 400])
        expect(text).toContain('The address is wrong')
        refused += 1
      }
    }
  }
  expect(refused).toBeGreaterThan(500)
})

test('a cursor with such an instant is a wrong address too', async () => {
  await using harness = await openConsoleHarness()
  for (const at of ['0000-01-01T00:00:00Z', '2026-13-41 00:00:00+00', '2026-11-20T24:00:00Z']) {
    const cursors = [
      [at, '1'],
      [at, 'alert-rules', 'default', '1'],
      [at, 'a', 'b'],
      [at, 'change'],
    ]
    for (const path of ['/ledger/calls?refused=yes', '/changes?', '/mcp/changes?']) {
      for (const cursor of cursors) {
        expect((await harness.page(`${path}&after=${writeCursor(cursor)}`)).status, path).toBe(400)
      }
    }
  }
})
