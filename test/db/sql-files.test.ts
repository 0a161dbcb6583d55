import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { compareSql, planSql, type SqlPlan } from '../../drizzle/plan-sql.ts'
import { planTables, readTableStatements } from '../../drizzle/plan-tables.ts'
import { readSqlFiles, type SqlFile } from '../../drizzle/sql-files.ts'
import { openTestDatabase } from '../support/database.ts'

describe('a migrated database and the files of functions, views and triggers', () => {
  test('have the same objects, with the same text and the same comments', async () => {
    await using client = await openClient()
    const { present, wanted } = await compareSql(client, readSqlFiles())
    expect(Object.fromEntries(present)).toEqual(Object.fromEntries(wanted.objects))
  })

  test('each file makes one function or view, which bears its name, and the triggers that call it', async () => {
    await using client = await openClient()
    const { objects, files } = (await compareSql(client, readSqlFiles())).wanted
    const mistakes = files.filter(({ name, made }) => {
      const [object, ...others] = made.filter(each => !each.startsWith('TRIGGER '))
      const triggers = made.filter(each => each.startsWith('TRIGGER '))
      const isNamed = new RegExp(`^(VIEW|FUNCTION) ferry(_internal)?\\.${name}(\\(|$)`).test(object ?? '')
      return (
        !isNamed ||
        others.length > 0 ||
        !triggers.every(each => objects.get(each)?.includes(`ferry_internal.${name}()`))
      )
    })
    expect(mistakes.map(file => file.path)).toEqual([])
  })
})

describe('the next migration', () => {
  test('has nothing in it as long as no file has changed', async () => {
    await using client = await openClient()
    expect(await planSql(client, readSqlFiles())).toEqual({ drops: [], files: [] })
    expect(await planTables(client, readTableStatements())).toEqual([])
  })

  test('has a comment, an index or a parameter of drizzle/tables that has changed, and only that', async () => {
    await using client = await openClient()
    const statements = [
      "COMMENT ON COLUMN ferry.workers.pid IS 'Another comment.'",
      'CREATE INDEX IF NOT EXISTS workers_by_pid ON ferry.workers (pid)',
      'ALTER TABLE ferry.workers SET (fillfactor = 50)',
    ]
    const plan = await planTables(client, [...readTableStatements(), ...statements])
    expect(plan).toEqual(statements.map(statement => `${statement};`))
    expect(await planTables(client, readTableStatements())).toEqual([])
  })

  test('replaces a function whose body has changed, and drops nothing', async () => {
    await using client = await openClient()
    const plan = await planSql(
      client,
      withFile('release_claim', text => text.replace('IF NOT FOUND', 'IF  NOT FOUND')),
    )
    expect(summaryOf(plan)).toEqual({ drops: [], files: ['release_claim'] })
  })

  test('says nothing of what stands outside of the body', async () => {
    await using client = await openClient()
    const plan = await planSql(
      client,
      withFile('release_claim', text => `-- Another remark.\n${text}`),
    )
    expect(summaryOf(plan)).toEqual({ drops: [], files: [] })
  })

  test('drops a function whose signature has changed before it makes the new one', async () => {
    await using client = await openClient()
    const plan = await planSql(
      client,
      withFile('split_batch', text => text.replace('p_batch bigint', 'p_batch bigint, p_parts int')),
    )
    expect(summaryOf(plan)).toEqual({
      drops: ['DROP FUNCTION ferry_internal.split_batch(bigint);'],
      files: ['split_batch'],
    })
  })

  test('drops a function that has another name, and one that has no file any more with its triggers', async () => {
    await using client = await openClient()
    const files = withFile('count_rest', () => '').filter(({ text }) => text !== '')
    const renamed = files.map(file =>
      file.name === 'carve_batch'
        ? {
            ...file,
            name: 'cut_batch',
            text: file.text.replaceAll('ferry_internal.carve_batch', 'ferry.cut_batch'),
          }
        : file,
    )
    expect(summaryOf(await planSql(client, renamed))).toEqual({
      drops: [
        'DROP TRIGGER imports_count_rest ON ferry.imports;',
        'DROP FUNCTION ferry_internal.carve_batch(bigint,boolean), ferry_internal.count_rest();',
      ],
      files: ['cut_batch'],
    })
  })

  test('makes views in the order in which they need each other, and drops with a view those that need it', async () => {
    await using client = await openClient()
    const young = {
      path: 'a.sql',
      name: 'a',
      text: 'CREATE OR REPLACE VIEW ferry.a AS SELECT b.id FROM ferry.b',
    }
    const files = [young, viewOf('b', 'id, name'), ...readSqlFiles()]
    const first = await planSql(client, files)
    expect(summaryOf(first)).toEqual({ drops: [], files: ['b', 'a'] })
    await apply(client, first)

    // One column more, at the end: Postgres can add it.
    const wider = [young, viewOf('b', 'id, name, folder_id'), ...readSqlFiles()]
    expect(summaryOf(await planSql(client, wider))).toEqual({ drops: [], files: ['b'] })
    // One column less: it cannot.
    const narrower = [young, viewOf('b', 'id'), ...readSqlFiles()]
    const second = await planSql(client, narrower)
    expect(summaryOf(second)).toEqual({ drops: ['DROP VIEW ferry.b, ferry.a;'], files: ['b', 'a'] })
    await apply(client, second)
    expect(summaryOf(await planSql(client, narrower))).toEqual({ drops: [], files: [] })
  })

  test('follows a comment that is changed, added or taken away', async () => {
    await using client = await openClient()
    const changed = await planSql(
      client,
      withFile('count_rest', text => text.replace("IS 'Keeps", "IS 'Counts")),
    )
    expect(summaryOf(changed)).toEqual({ drops: [], files: ['count_rest'] })
    const without = withFile('count_rest', text => text.replace(/^COMMENT .*$/m, ''))
    const gone = await planSql(client, without)
    expect(gone.files.map(file => file.name)).toEqual(['count_rest'])
    await apply(client, gone)
    expect(summaryOf(await planSql(client, without))).toEqual({ drops: [], files: [] })
  })

  test('is not written for a file that Postgres refuses: it says which and why', async () => {
    await using client = await openClient()
    const plan = planSql(client, [...readSqlFiles(), viewOf('b', 'no_such_column')])
    await expect(plan).rejects.toThrow('b.sql: column "no_such_column" does not exist')
  })
})

/** The files as they are, but for one. */
function withFile(name: string, change: (text: string) => string): SqlFile[] {
  return readSqlFiles().map(file => (file.name === name ? { ...file, text: change(file.text) } : file))
}

function viewOf(name: string, columns: string): SqlFile {
  return {
    path: `${name}.sql`,
    name,
    text: `CREATE OR REPLACE VIEW ferry.${name} AS SELECT ${columns} FROM ferry.alert_rule_versions`,
  }
}

function summaryOf({ drops, files }: SqlPlan) {
  return { drops, files: files.map(file => file.name) }
}

async function apply(client: Client, { drops, files }: SqlPlan): Promise<void> {
  for (const text of [...drops, ...files.map(file => file.text)]) await client.query(text)
}

/** A client of a migrated database of its own. */
async function openClient(): Promise<Client & AsyncDisposable> {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await openTestDatabase())
  const client = new Client({ connectionString: database.url })
  await client.connect()
  opened.defer(() => client.end())
  const kept = opened.move()
  return Object.assign(client, { [Symbol.asyncDispose]: () => kept.disposeAsync() })
}
