import { expect, test } from 'vitest'
import { poolSizeOf } from '#src/db/pool.ts'
import { connectionBudget } from '#src/queue/backend.ts'
import { readPage, sectionOf } from './pages.ts'

test('docs/scaling.md counts the connections of a worker as `ferry doctor` does', () => {
  const words = sectionOf(readPage('docs/scaling.md'), 'Connections').replaceAll('\n', ' ')
  const inRedis = connectionBudget({ databaseUrl: '', redisUrl: 'redis://127.0.0.1' })
  const inPostgres = connectionBudget({ databaseUrl: '', redisUrl: null })
  expect(words).toContain(`opens ${poolSizeOf(0)} connections to Postgres`)
  expect(words).toContain(`at most, ${poolSizeOf(4)} by default; ${inPostgres.postgres} more`)
  expect(words).toContain(`With Redis it opens ${inRedis.redis} to Redis`)
  const [, ...most] =
    /Connections to Postgres, at most \| (\d+) \| (\d+), or (\d+) .* \| (\d+) \|/
      .exec(readPage('docs/scaling.md'))
      ?.map(Number) ?? []
  const withRedis = poolSizeOf(4)
  const without = withRedis + inPostgres.postgres
  expect(most).toEqual([without, 2 * without, 2 * withRedis, 4 * withRedis])
})

test('docs/scaling.md has as much room for other connections as a Postgres with its defaults leaves', () => {
  const words = sectionOf(readPage('docs/scaling.md'), 'Connections').replaceAll('\n', ' ')
  expect(words).toContain(
    'the default of Postgres, 100 of which it keeps three for superusers, is enough for five workers with Redis, or three without',
  )
  const without = poolSizeOf(4) + connectionBudget({ databaseUrl: '', redisUrl: null }).postgres
  for (const most of [5 * poolSizeOf(4), 3 * without]) expect(100 - 3 - most).toBeGreaterThanOrEqual(10)
})

test('the disk for runs and calls is what 90 days of polls every minute come to', () => {
  const page = readPage('docs/scaling.md')
  const [, run, call] = /a run \((\d+) bytes\) and a call \((\d+) bytes\)/.exec(page)?.map(Number) ?? []
  const ofTen = ((10 * 90 * 1_440 * ((run ?? 0) + (call ?? 0))) / 1e9).toFixed(1)
  expect(page).toContain(`kept for 90 days: ${ofTen} GB for ten accounts`)
  expect(page).toContain(`| ${Number(ofTen) / 10} GB | ${ofTen} GB | ${Number(ofTen) * 10} GB |`)
  expect(readPage('docs/operators.md')).toContain(`about ${ofTen} GB: a call takes ${call} B, a run ${run} B`)
})

test('the pages agree on how long it takes until another worker has the work of a lost one', () => {
  const [, slot] = /of a slot of a schedule within (\d+ s)/.exec(readPage('docs/incidents.md')) ?? []
  expect(readPage('docs/scaling.md')).toContain(`It takes over within ${slot} when`)
})

test('the README does not promise more ready queries than docs/sql.md has, nor much fewer', () => {
  const queries = readPage('docs/sql.md').match(/^```sql$/gm)?.length ?? 0
  expect(readPage('README.md')).toContain('more than sixty ready queries')
  expect(queries).toBeGreaterThan(60)
  expect(queries).toBeLessThan(80)
})
