import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { expect, inject, test } from 'vitest'
import { openDatabase } from '#src/db/pool.ts'
import { Secret } from '#src/model/secret.ts'
import { onServer } from '#test/support/database.ts'

class Rotated extends Secret {
  now = 'one'
  override reveal(): string {
    return this.now
  }
}

test('each connection has the password of that moment; a refused one is an outage that ends', async () => {
  const { serverUrl, superuserUrl } = inject('database')
  const role = `ferry_test_${randomBytes(4).toString('hex')}`
  await onServer(superuserUrl, `create role ${role} login password 'one'`)
  const url = Object.assign(new URL(serverUrl), { username: role, password: '', pathname: '/postgres' })
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: line => lines.push(line) })
  const secret = new Rotated('')
  {
    await using database = openDatabase(url.href, log, { secret })
    const held = await database.pool.connect()
    await onServer(superuserUrl, `alter role ${role} password 'two'`)
    const asked = () => database.pool.query('select current_user as role')
    await expect(asked()).rejects.toMatchObject({ name: 'PostgresUnavailable', code: '28P01' })
    secret.now = 'two'
    expect((await asked().finally(() => held.release())).rows).toEqual([{ role }])
  }
  await onServer(superuserUrl, `drop role ${role}`)
  expect(lines.map(line => JSON.parse(line).msg)).toEqual([
    'Postgres is unavailable; Ferry keeps trying.',
    'Postgres is available again.',
  ])
})
