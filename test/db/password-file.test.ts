import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { expect, inject, onTestFinished, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { passwordIn } from '#src/db/password-file.ts'
import { openDatabase } from '#src/db/pool.ts'

function openFile(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-test-password-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'password'), text)
  return join(directory, 'password')
}

test('the password is what the file holds now; while it is empty or gone, what it held last', () => {
  const path = openFile('one\n')
  expect(passwordIn(path)).toBe('one')
  writeFileSync(path, 'two')
  expect(passwordIn(path)).toBe('two')
  writeFileSync(path, '')
  expect(passwordIn(path)).toBe('two')
  rmSync(path)
  expect(passwordIn(path)).toBe('two')
  expect(() => passwordIn(openFile(''))).toThrow(/is empty or cannot be read/)
})

test('connections opened after the password was rotated have the new one, and the address holds none', async () => {
  const role = `ferry_test_${randomBytes(4).toString('hex')}`
  const admin = new Client({ connectionString: inject('database').superuserUrl })
  await admin.connect()
  await admin.query(`create role ${role} login password 'one'`)
  onTestFinished(async () => {
    await admin.query(`drop role ${role}`)
    await admin.end()
  })
  const path = openFile('one')
  const url = new URL(inject('database').serverUrl)
  url.username = role
  url.password = ''
  url.pathname = '/postgres'
  const { databaseUrl } = readConfig({ DATABASE_URL: url.href, DATABASE_PASSWORD_FILE: path })
  expect(new URL(databaseUrl ?? '').password).toBe('')
  await using database = openDatabase(databaseUrl ?? '', pino({ level: 'silent' }))
  const held = await database.pool.connect()
  await admin.query(`alter role ${role} password 'two'`)
  writeFileSync(path, 'two')
  const { rows } = await database.pool.query('select current_user as role').finally(() => held.release())
  expect(rows).toEqual([{ role }])
})
