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
