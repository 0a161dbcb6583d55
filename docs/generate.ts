import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { Client } from 'pg'
import { pino } from 'pino'
import { SHOWN } from '#src/cli/listing.ts'
import { createProgram } from '#src/cli/program.ts'
import { SETTINGS } from '#src/config/settings.ts'
import { migrate } from '#src/db/migrate.ts'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'
import { STATUSES_SOURCE, withMoves, withMovesInComment } from './moves.ts'
import { ARCHITECTURE_PAGE, withRooms } from './rooms.ts'

/*
 * `npm run docs` writes the generated parts of the docs: docs/schema.md from the database's comments, the table of
 * docs/settings.md from the program's settings, the lists of docs/commands.md from its commands, the rooms of docs/architecture.md from the imports, and the moves of an
 * import there and in src/model/import.ts from their table. Tests compare each with its file.
 */

export const SCHEMA_PAGE = fileURLToPath(new URL('schema.md', import.meta.url))
export const SETTINGS_PAGE = fileURLToPath(new URL('settings.md', import.meta.url))
export const COMMANDS_PAGE = fileURLToPath(new URL('commands.md', import.meta.url))

const SETTINGS_HEAD = '| Setting | Default | Meaning |\n| --- | --- | --- |\n'

/** Returns `page` with its table of settings replaced by the program's. */
export function withSettings(page: string): string {
  const rows = SETTINGS.map(({ name, default: usual, meaning }) => [
    `\`${name}\``,
    usual === null ? '' : `\`${usual}\``,
    meaning,
  ])
  return withTable(page, SETTINGS_HEAD, rows)
}

const LISTS_HEAD = '| List | What it shows | Narrowed by | Rows |\n| --- | --- | --- | --- |\n'

/** Returns `page` with its table of lists replaced by the program's: every command that takes `--limit`. */
export async function withLists(page: string): Promise<string> {
  const program = await createProgram([])
  return withTable(page, LISTS_HEAD, program.commands.flatMap(listsIn))
}

/** The options of a list that do not narrow it. */
const OF_EVERY_LIST = ['--limit', '--all', '--json']

function listsIn(command: Command): string[][] {
  const options = command.options.map(option => option.long ?? '')
  const limit = command.options.find(({ long }) => long === '--limit')
  if (!limit) return command.commands.flatMap(listsIn)
  const name = `${command.parent?.parent ? `${command.parent.name()} ` : ''}${command.name()}`
  const filters = options.filter(option => !OF_EVERY_LIST.includes(option)).map(option => `\`${option}\``)
  const rows = options.includes('--all')
    ? `${SHOWN}; all with \`--all\` or \`--json\``
    : `${limit.defaultValue}`
  return [
    [`\`ferry ${name}\``, command.description().replaceAll(/--[a-z-]+/g, '`$&`'), filters.join(', '), rows],
  ]
}

/** Returns `page` with the rows of the table that has this head replaced. */
function withTable(page: string, head: string, rows: readonly (readonly string[])[]): string {
  const [before = '', after = ''] = page.split(head)
  const lines = rows.map(cells => `| ${cells.join(' | ')} |\n`)
  return before + head + lines.join('') + after.replace(/^(\|.*\n)*/, '')
}

const INTRODUCTION = `# The schema \`ferry\`

This page describes every view, function and table for people who write SQL. \`npm run docs\` writes it from the comments in
the database, so psql's \`\\d+ ferry.alert_rules\` and the tooltips of Metabase or DataGrip show the same text. Ready queries
are in [sql.md](sql.md).

Read the views and the two \`_as_of\` functions: they stay the same when the tables behind them change. A column that holds
a field of the platform has the platform's name for it. Ids are \`numeric(20,0)\`, because they go up to 2^64-1.
`

/**
 * Returns the page about the schema `ferry` of a migrated database, as Markdown: views, functions and tables, each
 * with its comment. A missing comment leaves an empty cell.
 */
export async function describeSchema(client: Pick<Client, 'query'>): Promise<string> {
  const relations = await loadRelations(client)
  const views = relations.filter(relation => relation.kind === 'v').map(describeRelation)
  const tables = relations.filter(relation => relation.kind === 'r').map(describeRelation)
  const functions = (await loadFunctions(client)).map(describeFunction)
  const page = [
    INTRODUCTION,
    '## Views\n',
    ...views,
    '## Functions\n',
    ...functions,
    '## Tables\n',
    ...tables,
  ]
  return page.join('\n')
}

type Relation = {
  readonly name: string
  readonly kind: 'r' | 'v'
  readonly comment: string
  readonly columns: readonly { name: string; type: string; nullable: boolean; comment: string }[]
}

async function loadRelations(client: Pick<Client, 'query'>): Promise<Relation[]> {
  const { rows } = await client.query<Relation>(`
    select t.relname as name, t.relkind as kind, coalesce(obj_description(t.oid, 'pg_class'), '') as comment,
      json_agg(json_build_object('name', c.attname, 'type', format_type(c.atttypid, c.atttypmod),
        'nullable', t.relkind = 'r' and not c.attnotnull,
        'comment', coalesce(col_description(t.oid, c.attnum), '')) order by c.attnum) as columns
    from pg_class t
    join pg_attribute c on c.attrelid = t.oid and c.attnum > 0 and not c.attisdropped
    where t.relnamespace = 'ferry'::regnamespace and t.relkind in ('r', 'v')
    group by t.oid, t.relname, t.relkind
    order by t.relname`)
  return rows
}

type Routine = { readonly name: string; readonly takes: string; readonly comment: string }

async function loadFunctions(client: Pick<Client, 'query'>): Promise<Routine[]> {
  const { rows } = await client.query<Routine>(`
    select proname as name, pg_get_function_identity_arguments(oid) as takes,
      coalesce(obj_description(oid, 'pg_proc'), '') as comment
    from pg_proc where pronamespace = 'ferry'::regnamespace order by proname`)
  return rows
}

function describeRelation(relation: Relation): string {
  const columns = relation.columns.map(
    column =>
      `| \`${column.name}\` | ${shortType(column.type)}${column.nullable ? ', or null' : ''} | ${column.comment} |`,
  )
  const table = ['| Column | Type | Meaning |', '| --- | --- | --- |', ...columns]
  return `### ${relation.name}\n\n${relation.comment}\n\n${table.join('\n')}\n`
}

function describeFunction(routine: Routine): string {
  return `### ${routine.name}(${shortType(routine.takes)})\n\n${routine.comment}\n`
}

function shortType(text: string): string {
  return text.replaceAll('timestamp with time zone', 'timestamptz')
}

/** Starts an embedded Postgres, reads the comments of a migrated database and writes the pages. */
async function generate(): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'ferry-docs-'))
  opened.defer(() => rm(dataDir, { recursive: true, force: true }))
  const postgres = opened.use(await openEmbeddedPostgres({ dataDir, log: pino({ level: 'warn' }) }))
  await migrate(postgres.url)
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  opened.defer(() => client.end())
  await writeFile(SCHEMA_PAGE, await describeSchema(client))
  await writeFile(SETTINGS_PAGE, withSettings(await readFile(SETTINGS_PAGE, 'utf8')))
  await writeFile(COMMANDS_PAGE, await withLists(await readFile(COMMANDS_PAGE, 'utf8')))
  await writeFile(ARCHITECTURE_PAGE, withMoves(await withRooms(await readFile(ARCHITECTURE_PAGE, 'utf8'))))
  await writeFile(STATUSES_SOURCE, withMovesInComment(await readFile(STATUSES_SOURCE, 'utf8')))
}

if (import.meta.main) await generate()
