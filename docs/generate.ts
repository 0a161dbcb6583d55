import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { pino } from 'pino'
import { SETTINGS } from '#src/config/settings.ts'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'
import { migrate } from '#src/store/migrate.ts'

/*
 * Writes what can be said from elsewhere: docs/schema.md from the database's comments, and the README's table of
 * settings from the settings. Tests compare both with what stands there.
 */

export const SCHEMA_PAGE = fileURLToPath(new URL('schema.md', import.meta.url))
export const README = fileURLToPath(new URL('../README.md', import.meta.url))

const SETTINGS_HEAD = '| Setting | Default | Meaning |\n| --- | --- | --- |\n'

/** Returns the README with the table of settings as it should be. */
export function withSettings(readme: string): string {
  const [before = '', after = ''] = readme.split(SETTINGS_HEAD)
  const rows = SETTINGS.map(
    ({ name, default: usual, meaning }) =>
      `| \`${name}\` | ${usual === null ? '' : `\`${usual}\``} | ${meaning} |\n`,
  )
  return before + SETTINGS_HEAD + rows.join('') + after.replace(/^(\|.*\n)*/, '')
}

const INTRODUCTION = `# The schema \`ferry\`

What people who write SQL meet. This page is generated from the database's own COMMENTs (\`npm run docs\`), so psql's
\`\\d+ ferry.alert_rules\` and the tooltips of Metabase or DataGrip say the same. Ready queries are in [sql.md](sql.md).

Read the views and the two \`_as_of\` functions: they stay as they are when the tables behind them change. Columns that
carry a field of the platform bear the platform's own name for it. Ids are \`numeric(20,0)\`, for they reach to 2^64-1.
`

/**
 * Returns the page about the schema `ferry` of a migrated database, as Markdown: views, functions, tables, each
 * with its comment. What has no comment has an empty place there.
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

/** Brings up an embedded Postgres for a moment, to ask it. */
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
  await writeFile(README, withSettings(await readFile(README, 'utf8')))
}

if (import.meta.main) await generate()
