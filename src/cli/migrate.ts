import { type Command, Option } from 'commander'
import type { Pool } from 'pg'
import type { PlannedMigration } from '#src/db/migration-plan.ts'
import type { Ferry } from '#src/ferry.ts'
import { counted } from '#src/model/counted.ts'
import type { AccountReader } from '#src/reports/account-readers.ts'
import { expectKnownAccount } from './accounts.ts'
import { everyNameArgument } from './arguments.ts'
import { withFerry } from './command-context.ts'
import { UsageError } from './errors.ts'
import { EXIT } from './exit.ts'
import { harmless, print, printAside, printJson } from './output.ts'

type Options = { json?: true; plan?: true; readerOf?: readonly string[] }

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description(
      'update the database to this version, and create the read-only role; safe to run on several machines at once',
    )
    .option('--plan', 'print what it would do and what it would lock; changes nothing')
    .addOption(
      new Option('--reader-of <account>', 'also create a role that sees one account only; can be repeated')
        .argParser(everyNameArgument)
        .conflicts('plan'),
    )
    .option('--json', 'print one JSON object; with --plan, one for each migration')
    .action((options: Options) => (options.plan ? plan(options) : migrateNow(options)))
}

function migrateNow(options: Options): Promise<void> {
  return withFerry('update', async ferry => {
    const { migrateQueue } = await import('#src/queue/backend.ts')
    await migrateQueue(ferry.backend)
    const { prepareReader } = await import('#src/reports/reader-role.ts')
    const reader = await prepareReader(ferry.pool)
    const readersOf = await prepareReadersOf(ferry, options.readerOf ?? [])
    const { migrated } = ferry
    const exitCode = readersOf.every(({ status }) => status === 'ready') ? EXIT.done : EXIT.failed
    if (options.json) {
      printJson({
        migrations: migrated,
        reader: reader.status,
        ...(reader.status === 'refused' && { readerSql: reader.statements }),
        ...(readersOf.length > 0 && { readersOf: readersOf.map(readerInJson) }),
      })
      return exitCode
    }
    print(migrated === 0 ? 'The database is up to date.' : `${counted(migrated, 'migration')} ran.`)
    if (reader.status === 'refused') {
      printAside(
        'ferry: this role cannot create the read-only role (ferry_reader), or cannot grant its rights. If you ' +
          'want it, run this as a superuser, or as a role that owns the tables and can create roles:',
      )
      for (const statement of reader.statements) print(`${statement};`)
    }
    readersOf.forEach(printReaderOf)
    return exitCode
  })
}

/** Prepares the roles of these accounts, and those of the accounts that have one. Throws `UsageError` if it cannot have one. */
async function prepareReadersOf(ferry: Ferry, accounts: readonly string[]): Promise<AccountReader[]> {
  const { accountRole, prepareAccountReader, refreshAccountReaders } = await import(
    '#src/reports/account-readers.ts'
  )
  for (const account of accounts) {
    await expectKnownAccount(ferry, account)
    if (accountRole(account) === null)
      throw new UsageError(
        `The name of the account ${account} is too long: the role ferry_reader_${account} would have more than 63 bytes.`,
      )
  }
  const refreshed = await refreshAccountReaders(ferry.pool)
  const added = accounts.filter(
    (name, n) => accounts.indexOf(name) === n && !refreshed.some(({ account }) => account === name),
  )
  for (const account of added) refreshed.push(await prepareAccountReader(ferry.pool, account))
  return refreshed
}

function readerInJson({ account, role, status, statements }: AccountReader) {
  return { account, role, status, ...(status === 'refused' && { sql: statements }) }
}

function printReaderOf({ account, role, status, statements, why }: AccountReader): void {
  if (status === 'ready') {
    print(`The role ${role} sees the account ${account} only, in the schema ${role}.`)
  } else if (status === 'in use') {
    printAside(
      `ferry: the schema ${role} is not up to date: others are using it. Run \`ferry migrate\` again when their queries have ended.`,
    )
  } else {
    printAside(
      `ferry: this role cannot create the role ${role} and its schema${why === undefined ? '' : ` (${harmless(why)})`}. Run this ` +
        'as a superuser, or as a role that owns the tables and can create roles and schemas:',
    )
    for (const statement of statements) print(`${statement};`)
  }
}

function plan(options: Options): Promise<void> {
  return withFerry('plan', async ({ pool }) => {
    const { planMigrations } = await import('#src/db/migration-plan.ts')
    const planned = await planMigrations(pool)
    if (options.json) planned.forEach(printJson)
    else {
      for (const migration of planned) printPlanned(migration)
      await printPlannedReaders(pool, planned.length > 0)
    }
    return EXIT.done
  })
}

/** What becomes of the schemas of readers: each migration makes all of them anew. */
async function printPlannedReaders(pool: Pool, migrates: boolean): Promise<void> {
  const { listAccountReaders, listStaleAccountReaders } = await import('#src/reports/account-readers.ts')
  const readers = migrates ? await listAccountReaders(pool) : await listStaleAccountReaders(pool)
  if (readers.length === 0 && !migrates) return print('The database is up to date: nothing to do.')
  if (readers.length === 0) return
  print(
    readers.length === 1
      ? `Makes the schema for readers of ${harmless(readers.join())} anew, which drops what others have built on it.`
      : `Makes the schemas for readers of ${harmless(readers.join(', '))} anew, which drops what others have built on them.`,
  )
}

function printPlanned({ migration, statements, locks, isConcurrent }: PlannedMigration): void {
  print(`${migration}: ${counted(statements.length, 'statement')}`)
  if (locks === null) {
    print('  Creates all tables. Locks nothing: there is nothing yet.')
    return
  }
  // Comments say nothing of what is done.
  for (const statement of statements.filter(text => !/^comment on/i.test(text)))
    print(`  ${firstLine(statement)}`)
  for (const { table, mode, work, rows } of locks) {
    const what =
      work === 'none' ? 'for milliseconds' : `as long as it takes to ${work} about ${counted(rows, 'row')}`
    print(
      isConcurrent
        ? `  Reads ${table}, about ${counted(rows, 'row')}. Nobody waits for it.`
        : `  Locks ${table} (${mode}) ${what}`,
    )
  }
  if (locks.length === 0) print('  Locks no table.')
  if (locks.length > 0 && !isConcurrent)
    print('  It waits for a lock for 1 s at most, then lets others pass and tries again, for 60 s in all.')
}

function firstLine(statement: string): string {
  const line = statement.split('\n').find(text => !text.startsWith('--')) ?? ''
  return line.length > 100 ? `${line.slice(0, 99)}…` : line
}
