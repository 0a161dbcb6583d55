import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openAwayLog, PostgresAway } from '#src/store/postgres-away.ts'

test('each word that Postgres is away is followed by one that it is back, and the same trouble by neither', () => {
  const lines: string[] = []
  const log = openAwayLog(pino({ level: 'info' }, { write: line => lines.push(JSON.parse(line).msg) }))
  const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  const away = new PostgresAway({ url: 'postgres://127.0.0.1/x', setting: 'DATABASE_URL' }, lost)
  for (let n = 0; n < 3; n += 1) {
    log.failed(away)
    log.worked({ openedAtMs: performance.now(), isReadOnly: false })
  }
  expect(lines).toEqual(['Postgres is away; what needs it is tried again', 'Postgres is back'])
})
