import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { POSTGRES_PARAMETERS } from '#src/config/postgres-parameters.ts'
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
      options: '-c search_path=public',
    }
    const url = `postgres://db/ferry?${new URLSearchParams(parameters)}`
    expect(parametersOf(url)).toEqual({ ...parameters, uselibpqcompat: 'true' })
    expect(parametersOf('postgres://db/ferry?sslmode=no-verify')).toEqual({ sslmode: 'no-verify' })
  })

  /** Every parameter of libpq, with values that are kept and values that are refused; an empty list: any value is. */
  test.each<[name: string, kept: readonly string[], refused: readonly string[]]>([
    ['host', ['db2'], []],
    ['hostaddr', [], ['10.0.0.1']],
    ['port', ['5433'], []],
    ['dbname', [], ['other']],
    ['user', ['me'], []],
    ['password', ['secret'], []],
    ['passfile', [], ['/x']],
    ['require_auth', [], ['scram-sha-256', '!password']],
    ['channel_binding', ['prefer', 'disable'], ['require']],
    ['connect_timeout', ['1', '5', '9999'], ['0', '-1', '1.5', '', 'x', '10000']],
    ['client_encoding', ['UTF8', 'auto'], ['LATIN1']],
    ['options', ['-c geqo=off'], []],
    ['application_name', ['x'], []],
    ['fallback_application_name', ['x'], []],
    ['keepalives', ['1'], ['0']],
    ['keepalives_idle', [], ['30']],
    ['keepalives_interval', [], ['5']],
    ['keepalives_count', [], ['3']],
    ['tcp_user_timeout', [], ['1000']],
    ['replication', ['false'], ['database', 'true']],
    ['gssencmode', ['prefer', 'disable'], ['require']],
    ['sslmode', ['require', 'disable', 'verify-full'], ['prefer', 'allow', 'on', '', 'DISABLE']],
    ['requiressl', [], ['1']],
    ['sslnegotiation', ['postgres'], ['direct']],
    ['sslcompression', ['0'], ['1']],
    ['sslcert', [], ['/nowhere']],
    ['sslkey', [], ['/nowhere']],
    ['sslkeylogfile', [], ['/x']],
    ['sslpassword', [], ['x']],
    ['sslcertmode', ['allow'], ['disable', 'require']],
    ['sslrootcert', [], ['system', '/nowhere']],
    ['sslcrl', [], ['/x']],
    ['sslcrldir', [], ['/x']],
    ['sslsni', ['1'], ['0']],
    ['requirepeer', [], ['postgres']],
    ['ssl_min_protocol_version', ['TLSv1', 'TLSv1.1', 'TLSv1.2'], ['TLSv1.3']],
    ['ssl_max_protocol_version', ['TLSv1.3'], ['TLSv1.2']],
    ['min_protocol_version', ['3.0'], ['3.2']],
    ['max_protocol_version', ['3.0', 'latest'], ['3.2']],
    ['krbsrvname', [], ['postgres']],
    ['gsslib', [], ['gssapi']],
    ['gssdelegation', ['0'], ['1']],
    ['scram_client_key', [], ['x']],
    ['scram_server_key', [], ['x']],
    ['service', [], ['ferry']],
    ['servicefile', [], ['/x']],
    ['target_session_attrs', ['any', 'read-write', 'primary'], ['standby', 'read-only', 'prefer-standby']],
    ['load_balance_hosts', ['disable'], ['random']],
    ['oauth_issuer', [], ['https://x']],
    ['oauth_client_id', [], ['x']],
    ['oauth_client_secret', [], ['x']],
    ['oauth_scope', [], ['x']],
  ])('%s has a verdict: what cannot be kept is refused by its name, with a remedy', (name, kept, refused) => {
    const urlWith = (value: string) => `postgres://me@db/ferry?${new URLSearchParams({ [name]: value })}`
    expect(Object.keys(POSTGRES_PARAMETERS)).toContain(name)
    for (const value of kept) expect(parametersOf(urlWith(value))[name]).toBe(value)
    for (const value of refused) {
      expect(mistakeOf(urlWith(value))).toMatch(
        new RegExp(`^DATABASE_URL: has (an unknown )?${name}\\b.*[;:,] .+`),
      )
    }
  })

  test.each(['ssl=true', 'sslMode=disable', 'pgbouncer=true', '__proto__=x'])(
    '%s is no parameter of psql, and is refused by its name',
    parameter => {
      expect(mistakeOf(`postgres://db/ferry?${parameter}`)).toContain(
        `has the parameter ${parameter.split('=')[0]}`,
      )
    },
  )

  test('a password from a file goes with any of these forms', () => {
    const { databaseUrl, databasePassword } = readConfig({
      DATABASE_URL: 'postgres://me@/ferry?host=/var/run/postgresql',
      DATABASE_PASSWORD_FILE: fileHolding('p@ss\n'),
    })
    expect(new URL(databaseUrl ?? '').password).toBe('')
    expect(databasePassword?.reveal()).toBe('p@ss')
  })

  test('anything else is not a Postgres URL, and is not repeated', () => {
    for (const url of ['db', 'host=db dbname=ferry', 'mysql://db/ferry', '/var/run/postgresql ferry']) {
      expect(mistakeOf(url)).toMatch(/^DATABASE_URL: is not a Postgres URL; write it like postgres:/)
    }
  })
})
