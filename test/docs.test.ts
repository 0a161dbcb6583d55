import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { describeSchema, README, SCHEMA_PAGE, withSettings } from '../docs/generate.ts'
import { openTestDatabase } from './support/database.ts'

const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'docs/schema.md',
  'docs/sql.md',
  'docs/operators.md',
  'docs/sandbox.md',
]

test('the README shows every setting with its default and meaning (else: npm run docs)', () => {
  const readme = readFileSync(README, 'utf8')
  expect(readme).toBe(withSettings(readme))
})

test('the README shows every command', { timeout: 120_000 }, async () => {
  const shown =
    /## Command line[\s\S]*?```\n([\s\S]*?)```/.exec(readFileSync(README, 'utf8'))?.[1]?.split('\n') ?? []
  for (const command of await commandsOf()) {
    const line = shown.find(line => line.includes(`ferry ${command}`)) ?? ''
    expect(line, command).not.toBe('')
    for (const part of await commandsOf(command)) expect(line).toContain(` ${part}`)
  }
})

test('docs/sandbox.md shows every option and every control', async () => {
  const page = readFileSync(fileURLToPath(new URL('../docs/sandbox.md', import.meta.url)), 'utf8')
  const help = await promisify(execFile)(process.execPath, [
    fileURLToPath(new URL('../src/cli/ferry.ts', import.meta.url)),
    'sandbox',
    '--help',
  ])
  const options = [...help.stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, option]) => option ?? '')
  expect(options).toContain('--fault')
  const { CONTROLS } = await import('#src/sandbox/controls.ts')
  const shown = [...options.filter(option => option !== '--help'), ...Object.keys(CONTROLS)]
  expect(shown.filter(name => !page.includes(name))).toEqual([])
})

test('the accounts file shown in the README is one that Ferry reads', async () => {
  const [, example = ''] = /```json\n([\s\S]*?)```/.exec(readFileSync(README, 'utf8')) ?? []
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

test('every table, view, function and column has a comment', async () => {
  const page = await describeSchema(await freshDatabase())
  const silent = page.split('\n').filter((line, index, lines) => {
    const isColumn = /^\| `/.test(line)
    return isColumn ? line.endsWith('|  |') : line.startsWith('### ') && !/^\w/.test(lines[index + 2] ?? '')
  })
  expect(silent).toEqual([])
})

test('docs/schema.md says what the comments in the database say (else: npm run docs)', async () => {
  expect(await describeSchema(await freshDatabase())).toBe(readFileSync(SCHEMA_PAGE, 'utf8'))
})

test('the role that only reads can run every query of the pages, and can write nothing', async () => {
  const client = await freshDatabase()
  const role = `ferry_test_reader_${process.pid}`
  const [grants = ''] = sqlBlocks(section(read('docs/operators.md'), 'A role that only reads'))
  await client.query(grants.replaceAll('ferry_reader', role))
  try {
    await client.query(`set role ${role}`)
    const queries = [...sqlBlocks(read('docs/sql.md')), ...sqlBlocks(read('README.md'))]
    expect(queries.length).toBeGreaterThan(20)
    for (const query of queries) await client.query(query)
    await expect(client.query('delete from ferry.sync_runs')).rejects.toThrow('permission denied')
    const { rows: people } = await client.query(
      `select c.relname, a.attname, has_column_privilege(c.oid, a.attnum, 'select') as "isRead"
       from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace = 'ferry'::regnamespace and c.relname ~ '^import' and c.relkind in ('r', 'v')
         and a.attname in ('recipient', 'recipient_hash', 'raw')`,
    )
    expect(people.length).toBeGreaterThan(5)
    expect(people.filter(({ isRead }) => isRead)).toEqual([])
  } finally {
    await client.query(`reset role; drop owned by ${role}; drop role ${role}`)
  }
})

test('every file that the pages name exists', () => {
  const named = PAGES.flatMap(page =>
    [...read(page).matchAll(/`((?:src|jobs|test|bench|drizzle|docs)\/[\w./-]*)`/g)].map(
      ([, path = '']) => path,
    ),
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(path => !existsSync(pathOf(path)))).toEqual([])
})

test('links between the pages lead somewhere', () => {
  const dangling = [
    'README.md',
    'CHANGELOG.md',
    'docs/schema.md',
    'docs/sql.md',
    'docs/operators.md',
  ].flatMap(page =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#]*)(#[^)]*)?\)/g)]
      .filter(([, path = '', anchor]) => !leadsSomewhere(path ? resolveFrom(page, path) : page, anchor))
      .map(([link]) => `${page}: ${link}`),
  )
  expect(dangling).toEqual([])
})

/** The commands that `ferry COMMAND... --help` lists. */
async function commandsOf(...command: string[]): Promise<string[]> {
  const words = [pathOf('src/cli/ferry.ts'), ...command, '--help']
  const { stdout } = await promisify(execFile)(process.execPath, words)
  const [, list = ''] = stdout.split('Commands:\n')
  return [...list.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name).filter(name => name !== 'help')
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

function sqlBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, query = '']) => query)
}

/** What stands under a heading, up to the next one. */
function section(markdown: string, heading: string): string {
  const [, text = ''] = markdown.split(`## ${heading}\n`)
  return text.split(/^## /m)[0] ?? ''
}

function leadsSomewhere(page: string, anchor: string | undefined): boolean {
  try {
    const text = read(page)
    return anchor === undefined || anchorsOf(text).includes(anchor)
  } catch {
    return false
  }
}

/** As the usual renderers make them from headings. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(
    ([, heading = '']) =>
      `#${heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-')}`,
  )
}

function resolveFrom(page: string, path: string): string {
  return new URL(path, `file:///${page}`).pathname.slice(1)
}

function read(path: string): string {
  return readFileSync(pathOf(path), 'utf8')
}

function pathOf(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}
