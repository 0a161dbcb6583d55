import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { expect, inject, onTestFinished, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { openDatabase } from '#src/db/pool.ts'
import { joinReader, prepareReader } from '#src/reports/reader-role.ts'
import { openTestDatabase, withDatabase } from '#test/support/database.ts'
import { addRun } from '#test/support/runs.ts'
import { describeSchema, withLists, withSettings } from '../../docs/generate.ts'
import { blocksOf, inlineCodeOf, PAGES, readPage, sectionOf } from './pages.ts'

/* What the pages say about settings and the schema is what the program and the database say. */

test('docs/settings.md shows every setting with its default and meaning (else: npm run docs)', () => {
  const page = readPage('docs/settings.md')
  expect(page).toBe(withSettings(page))
  expect(page).toContain('| `FERRY_POLL_EVERY` | `60s` |')
})

test('docs/commands.md shows every list with its filters and how many rows it prints (else: npm run docs)', async () => {
  const page = readPage('docs/commands.md')
  expect(page).toBe(await withLists(page))
  expect(page).toContain('| `ferry runs list` |')
})

test('the accounts file shown in docs/settings.md is one that Ferry reads', async () => {
  const [example = ''] = blocksOf(readPage('docs/settings.md'), 'json')
  const directory = await mkdtemp(join(tmpdir(), 'ferry-docs-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const accountsFile = join(directory, 'accounts.json')
  await writeFile(join(directory, 'key'), 'one-key')
  await writeFile(accountsFile, example.replace('/run/secrets/production_key', join(directory, 'key')))
  const { accounts } = readConfig({ FERRY_ACCOUNTS_FILE: accountsFile, ONCALL_KEY: 'another-key' })
  expect(accounts.map(({ name, limitGroup }) => ({ name, limitGroup }))).toEqual([
    { name: 'production', limitGroup: 'production' },
    { name: 'production-oncall', limitGroup: 'production' },
  ])
})

test('every other block of SQL on the pages can be run by the owner of the tables', async () => {
  const client = await freshDatabase()
  // Run by the tests of these roles (test/flows/compose-database.test.ts, test/flows/roles.test.ts, test/reports/account-readers.test.ts, and below).
  const ofRoles = [
    'The role that Ferry works as',
    'Two roles: one that migrates, one that works',
    'A role that only reads',
    'Readers of one account',
  ]
  const rest = PAGES.filter(page => !['docs/sql.md', 'README.md'].includes(page)).flatMap(page =>
    blocksOf(
      ofRoles.reduce((text, role) => text.replace(sectionOf(text, role), ''), readPage(page)),
      'sql',
    ),
  )
  expect(rest.length).toBeGreaterThan(0)
  for (const statements of rest) await client.query(statements)
})

const NAMES_OF_STATEMENTS = ['reassign owned by', 'CREATE INDEX CONCURRENTLY']

test('every statement of SQL in the text of the pages can be run by the owner of the tables', async () => {
  const client = await freshDatabase()
  const { rows } = await client.query<{ name: string }>('select quote_ident(current_database()) as name')
  const verb = 'select|insert|update|delete|alter|create|drop|truncate|grant|revoke|reassign|vacuum'
  const statements = PAGES.filter(page => page !== 'CHANGELOG.md')
    .flatMap(page => inlineCodeOf(readPage(page)))
    .filter(code => new RegExp(`^(?:${verb}) .* `, 'i').test(code) && !NAMES_OF_STATEMENTS.includes(code))
  expect(statements.length).toBeGreaterThan(3)
  for (const statement of statements) await client.query(statement.replace('…', rows[0]?.name ?? ''))
})

test('every table, view, function and column has a comment', async () => {
  const page = await describeSchema(await freshDatabase())
  const silent = page.split('\n').filter((line, index, lines) => {
    const isColumn = /^\| `/.test(line)
    return isColumn ? line.endsWith('|  |') : line.startsWith('### ') && !/^\w/.test(lines[index + 2] ?? '')
  })
  expect(silent).toEqual([])
})

test('docs/schema.md says what the comments in the database say (else: npm run docs)', async () => {
  expect(await describeSchema(await freshDatabase())).toBe(readPage('docs/schema.md'))
})

test('the role that only reads can run every query of the pages, but those for the owner, who can', async () => {
  const client = await freshDatabase()
  await prepareReaderOn(client)
  const ofOwner = blocksOf(sectionOf(readPage('docs/sql.md'), 'For the owner of the tables'), 'sql')
  expect(ofOwner.length).toBeGreaterThan(3)
  for (const query of ofOwner) {
    await client.query('set role ferry_reader')
    await expect(client.query(query), query).rejects.toThrow('permission denied')
    await client.query('reset role')
    await client.query(query)
  }
  await client.query('set role ferry_reader')
  const queries = ['docs/sql.md', 'docs/questions.md', 'docs/evening.md', 'README.md'].flatMap(page =>
    blocksOf(readPage(page), 'sql'),
  )
  expect(queries.length).toBeGreaterThan(20)
  for (const query of queries.filter(query => !ofOwner.includes(query))) await client.query(query)
})

async function prepareReaderOn(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>('select current_database() as name')
  const { serverUrl } = inject('database')
  await using database = openDatabase(withDatabase(serverUrl, rows[0]?.name ?? ''), pino({ level: 'silent' }))
  expect(await prepareReader(database.pool)).toEqual({ status: 'ready' })
  expect(await joinReader(database.pool)).toBe(true)
  // For the query that refuses old data.
  await addRun(database.pool)
}

/** A client on a migrated database without rows, both gone at the end of the test. */
async function freshDatabase(): Promise<Client> {
  const database = await openTestDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const client = new Client({ connectionString: database.url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}
