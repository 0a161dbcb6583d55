import { afterEach, expect, test, vi } from 'vitest'
import { inOneLine, openView } from '#src/cli/import/view.ts'
import type { ImportSummary } from '#src/model/import.ts'

const SUMMARY: ImportSummary = {
  import: 7n,
  account: 'default',
  page: 1n,
  status: 'running',
  read: 3_000,
  sent: 1_000,
  pending: 1_000,
  uncertain: 0,
  rejected: 0,
  duplicate: 1_000,
  suppressed: 0,
  alreadyImported: 0,
  batches: 20,
  requests: 10,
  durationMs: 1_000,
}
const AT_REST = { batchesLeft: 10, rowsPerMinute: null, etaMs: null, whyWaiting: null }

test('a line says how far an import is, the most important first, and why it waits', () => {
  const line = (summary: Partial<ImportSummary>, progress = {}) =>
    inOneLine({ summary: { ...SUMMARY, ...summary }, ...AT_REST, ...progress })
  expect(line({})).toBe('import 7 running: 1,000 of 2,000 rows (50 %), 10 of 20 batches')
  expect(line({ rejected: 2, uncertain: 3 }, { rowsPerMinute: 99.6, etaMs: 61_400 })).toBe(
    'import 7 running: 1,000 of 2,003 rows (50 %), 1 min 1 s left, 10 of 20 batches, 100 rows/min, 2 rejected, 3 uncertain',
  )
  expect(line({ sent: 0, pending: 0 }, { whyWaiting: 'no worker is running' })).toBe(
    'import 7 running: 0 of 0 rows, 10 of 20 batches. no worker is running.',
  )
  // None of its batches is left, but not all were sent.
  expect(line({ status: 'cancelled' }, { batchesLeft: 0 })).toBe(
    'import 7 cancelled: 1,000 of 2,000 rows (50 %)',
  )
})

afterEach(() => void vi.restoreAllMocks())

/** Does the work on a terminal of so many columns, and returns what is written there, as it is written. */
function onTerminal(columns: number, work: (written: readonly string[]) => void): readonly string[] {
  const written: string[] = []
  vi.spyOn(process.stdout, 'write').mockImplementation(text => written.push(`${text}`) > 0)
  const { isTTY, columns: before } = process.stdout
  Object.assign(process.stdout, { isTTY: true, columns })
  try {
    work(written)
  } finally {
    Object.assign(process.stdout, { isTTY, columns: before })
  }
  return written
}

test.for([
  [300, 24],
  [71, 24],
  [61, 14],
  [40, 10],
] as const)('on a terminal of %i columns the bar has %i places, half of them filled', ([columns, places]) => {
  const written = onTerminal(columns, () =>
    openView({}).show({ summary: SUMMARY, ...AT_REST, etaMs: 61_400, whyWaiting: 'Somebody paused it' }),
  )
  expect(written.join('')).toContain(` [${'#'.repeat(places / 2)}${'.'.repeat(places / 2)}] 1,000 of`)
  expect(written.join('').replaceAll(/\n */g, ' ')).toMatch(
    /1 min 1 s left, 10 of 20 batches Somebody paused it\.$/,
  )
})

test('a bar that has ended is left as it is, and its line is ended once', () => {
  const written = onTerminal(300, soFar => {
    const view = openView({})
    view.end()
    expect(soFar).toEqual([])
    for (const _ of [1, 2]) {
      view.show({ summary: SUMMARY, ...AT_REST, etaMs: null, whyWaiting: null })
      view.end()
      view.end()
    }
  })
  const [drawn = ''] = written
  expect(drawn).toMatch(/^import 7 /)
  expect(written).toEqual([drawn, '\n', drawn, '\n'])
})
