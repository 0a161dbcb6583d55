import { expect, test } from 'vitest'
import { connectWithinMs, placeOf } from '#src/model/postgres-address.ts'

test.for([
  ['postgres://user:secret@db.example.com:6432/ferry', 'db.example.com:6432/ferry'],
  ['postgres://db.example.com/ferry', 'db.example.com:5432/ferry'],
  ['postgres:///ferry', 'localhost:5432/ferry'],
  ['postgres:///ferry?host=/run/postgresql&port=6433', '/run/postgresql:6433/ferry'],
  ['postgres://%2Frun%2Fpostgresql/ferry', '/run/postgresql:5432/ferry'],
  ['postgres://a:1/ferry?host=b&port=2&user=u&password=secret', 'b:2/ferry'],
] as const)('people are told of %s as %s', ([url, place]) => {
  expect(placeOf(url)).toBe(place)
})

test('a connection may take as long as its address says, in seconds, or as long as is usual', () => {
  expect(connectWithinMs('postgres://db/ferry?connect_timeout=3')).toBe(3_000)
  expect(connectWithinMs('postgres://db/ferry?connect_timeout=3', 1)).toBe(3_000)
  expect(connectWithinMs('postgres://db/ferry')).toBe(10_000)
  expect(connectWithinMs('postgres://db/ferry', 1)).toBe(1)
})
