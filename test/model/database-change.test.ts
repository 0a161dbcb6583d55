import { expect, test, vi } from 'vitest'
import { changeInWords, DATABASE_CAUSES, isNews } from '#src/model/database-change.ts'

test('each change of the database is told in two sentences: what changed, and since when rows may be missing', () => {
  const missingSince = new Date('2026-01-02T03:04:05.678Z')
  const told = DATABASE_CAUSES.map(cause => changeInWords({ cause, missingSince }))
  expect(told).toEqual(
    [
      'it is on another server than before',
      'its server was promoted or restored',
      'it is another database of the same server',
      'it is a copy of the database, as from a dump',
      'calls that were recorded are missing from it',
    ].map(
      what =>
        `This is not the database that Ferry knew: ${what}. Rows that were written since 2026-01-02T03:04:05.678Z may be missing.`,
    ),
  )
  expect(changeInWords({ cause: 'server', missingSince: null })).toBe(
    'This is not the database that Ferry knew: it is on another server than before. Rows that were written may be missing.',
  )
})

test('a change is news for a week', () => {
  const noticedAt = new Date('2026-01-01T00:00:00Z')
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const newsAt = ['2026-01-01T00:00:01Z', '2026-01-07T23:59:59.999Z', '2026-01-08T00:00:00Z'].map(time => {
      vi.setSystemTime(time)
      return isNews({ noticedAt })
    })
    expect(newsAt).toEqual([true, true, false])
  } finally {
    vi.useRealTimers()
  }
})
