import { randomBytes } from 'node:crypto'
import { globSync } from 'node:fs'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { LONG } from '../../vitest.config.ts'
import { cloneStrategy, onServer, withDatabase } from './database.ts'
import { findServer } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * A server on which tests may create databases and roles, the same for what only a superuser may do, the migrated
     * database to clone, one that has the tables of the queue too, and how to clone them.
     */
    database: {
      serverUrl: string
      superuserUrl: string
      template: string
      withQueue: string
      strategy: 'file_copy' | 'wal_log'
    }
  }
}

/** One Postgres and two migrated databases to clone for the whole run; all are removed at its end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using opened = new AsyncDisposableStack()
  const server = await findServer(opened)
  const { serverUrl, superuserUrl } = server
  const template = `ferry_template_${randomBytes(3).toString('hex')}`
  await onServer(serverUrl, `create database ${template} template template0 encoding 'UTF8'`)
  opened.defer(() => onServer(serverUrl, `drop database ${template} with (force)`))
  const { migrate } = await import('#src/db/migrate.ts')
  await migrate(withDatabase(serverUrl, template))
  await shrinkCatalog(withDatabase(superuserUrl, template))
  const withQueue = `${template}_queue`
  await onServer(serverUrl, `create database ${withQueue} template ${template}`)
  opened.defer(() => onServer(serverUrl, `drop database ${withQueue} with (force)`))
  const { migrateQueue } = await import('#src/queue/backend.ts')
  await migrateQueue({ databaseUrl: withDatabase(serverUrl, withQueue), redisUrl: null })
  // The connections of clones begin sooner with the file that the first connection writes.
  for (const name of [template, withQueue]) await onServer(withDatabase(serverUrl, name), 'select')
  project.provide('database', { ...server, template, withQueue, strategy: await cloneStrategy(serverUrl) })
  if (project.vitest.projects.every(({ name }) => name === 'quick')) opened.defer(sayWhatIsLeft)
  const kept = opened.move()
  return () => kept.disposeAsync()
}

/** What migrations leave behind in the tables of Postgres itself would be copied by every clone: a sixth of its files. */
async function shrinkCatalog(url: string): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const client = new Client(url)
  await client.connect()
  opened.defer(() => client.end())
  const { rows } = await client.query<{ tables: string }>(
    `select string_agg(oid::regclass::text, ', ') as tables from pg_class
     where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r' and not relisshared`,
  )
  await client.query(`vacuum full ${rows[0]?.tables}`)
}

async function sayWhatIsLeft(): Promise<void> {
  process.stdout.write(`${globSync(LONG).length} files of long tests were left to \`npm run test:all\`.\n`)
}
