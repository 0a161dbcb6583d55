import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { placeOf } from '#src/model/postgres-address.ts'
import { fileHolding, mistakesOf } from './support/settings.ts'

const CA = fileURLToPath(new URL('support/certificates/ca.pem', import.meta.url))

function mistakeOf(url: string): string | undefined {
  return mistakesOf({ DATABASE_URL: url })[0]
}

function parametersOf(url: string): Record<string, string> {
  return Object.fromEntries(new URL(readConfig({ DATABASE_URL: url }).databaseUrl ?? '').searchParams)
}

describe('DATABASE_URL', () => {
  test.each([
    ['postgres://ferry:pw@db:5433/ferry', 'db:5433/ferry'],
    ['postgresql://db/ferry', 'db:5432/ferry'],
    ['postgres://[::1]:5433/ferry', '[::1]:5433/ferry'],
    ['postgres:///ferry?host=/var/run/postgresql', '/var/run/postgresql:5432/ferry'],
    ['postgres://me:pw@/ferry?host=/var/run/postgresql', '/var/run/postgresql:5432/ferry'],
    ['postgres://me@:5433/ferry?host=/var/run/postgresql', '/var/run/postgresql:5433/ferry'],
    ['postgres://me@%2Fvar%2Frun%2Fpostgresql/ferry', '/var/run/postgresql:5432/ferry'],
    ['postgres://me@db/ferry?port=5444', 'db:5444/ferry'],
    ['postgres://me@db/ferry?port=', 'db:5432/ferry'],
    ['postgres://me@db:1/ferry', 'db:1/ferry'],
    ['postgres://me@db:65535/ferry', 'db:65535/ferry'],
  ])('%s leads to %s', (url, place) => {
    expect(placeOf(readConfig({ DATABASE_URL: url }).databaseUrl ?? '')).toBe(place)
  })

  test.each([
    'postgres://a:5432,b:5432/ferry',
    'postgres://a,b/ferry',
    'postgres://me:pw@a,b:5433/ferry',
    'postgres://me@/ferry?host=a,b',
    'postgres://me@a/ferry?port=1,2',
  ])('%s names several hosts, and is refused', url => {
    expect(mistakeOf(url)).toMatch(/^DATABASE_URL: names several hosts/)
  })

  test('an invalid port is refused without a connection', () => {
    expect(mistakeOf('postgres://me@db:0/ferry')).toMatch(/has the port 0;/)
    expect(mistakeOf('postgres://me@db:65536/ferry')).toMatch(/is not a Postgres URL/)
  })

  test.each([
    ['sslmode=prefer', 'has sslmode=prefer, which may connect without encryption'],
    ['sslmode=allow', 'has sslmode=allow, which may connect without encryption'],
    ['sslmode=on', 'has an unknown sslmode'],
    ['sslmode=verify-ca', 'without sslrootcert'],
    ['sslmode=verify-full&sslrootcert=system', 'leave it out'],
    ['sslmode=verify-full&sslrootcert=/nowhere/ca.pem', 'sslrootcert=/nowhere/ca.pem, which cannot be read'],
    ['sslmode=verify-full&sslcert=/nowhere/me.pem', 'sslcert=/nowhere/me.pem, which cannot be read'],
    [`sslrootcert=${CA}`, 'without sslmode'],
    ['service=ferry', 'has service, which Ferry does not support'],
    ['hostaddr=10.0.0.1', 'has hostaddr'],
    ['passfile=/x', 'use DATABASE_PASSWORD_FILE'],
    ['port=70000', 'has the port 70000; write a whole number from 1 to 65535'],
    ['port=65536', 'has the port 65536'],
    ['port=0', 'has the port 0'],
    ['port=abc', 'has the port abc'],
    ['target_session_attrs=standby', 'needs a server that accepts writes'],
  ])('with %s it is refused by name', (parameters, mistake) => {
    const message = mistakeOf(`postgres://me:hunter2@db/ferry?${parameters}`)
    expect(message).toMatch(/^DATABASE_URL: has /)
    expect(message).toContain(mistake)
    expect(message).not.toContain('hunter2')
  })

  test.each(['disable', 'require', 'verify-full'])('sslmode=%s means what it means to psql', mode => {
    expect(parametersOf(`postgres://db/ferry?sslmode=${mode}`)).toEqual({
      sslmode: mode,
      uselibpqcompat: 'true',
    })
  })

  test('other parameters are kept', () => {
    const parameters = {
      sslmode: 'verify-ca',
      sslrootcert: CA,
      target_session_attrs: 'read-write',
      connect_timeout: '5',
    }
    const url = `postgres://db/ferry?${new URLSearchParams(parameters)}`
    expect(parametersOf(url)).toEqual({ ...parameters, uselibpqcompat: 'true' })
    expect(parametersOf('postgres://db/ferry?sslmode=no-verify')).toEqual({ sslmode: 'no-verify' })
  })

  test('a password from a file goes with any of these forms', () => {
    const { databaseUrl } = readConfig({
      DATABASE_URL: 'postgres://me@/ferry?host=/var/run/postgresql',
      DATABASE_PASSWORD_FILE: fileHolding('p@ss\n'),
    })
    expect(decodeURIComponent(new URL(databaseUrl ?? '').password)).toBe('p@ss')
  })

  test('anything else is not a Postgres URL, and is not repeated', () => {
    for (const url of ['db', 'host=db dbname=ferry', 'mysql://db/ferry', '/var/run/postgresql ferry']) {
      expect(mistakeOf(url)).toMatch(/^DATABASE_URL: is not a Postgres URL; write it like postgres:/)
    }
  })
})
