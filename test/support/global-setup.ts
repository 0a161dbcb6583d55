import { randomBytes } from 'node:crypto'
import { globSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { LONG } from '../../vitest.config.ts'
import { cloneStrategy, onServer, withDatabase } from './database.ts'
import { openServer } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * A server on which tests may create databases and roles, the same for what only a superuser may do, the migrated
     * database to clone, and how to clone it.
     */
    database: { serverUrl: string; superuserUrl: string; template: string; strategy: 'file_copy' | 'wal_log' }
  }
}

/** One Postgres and one migrated template database for the whole run; both are removed at its end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using opened = new AsyncDisposableStack()
  const given = process.env.FERRY_TEST_DATABASE_URL
  const server = given ? { serverUrl: given, superuserUrl: given } : await openServer(opened)
  const { serverUrl } = server
  const template = `ferry_template_${randomBytes(3).toString('hex')}`
  await onServer(serverUrl, `create database ${template} template template0 encoding 'UTF8'`)
  opened.defer(() => onServer(serverUrl, `drop database ${template} with (force)`))
  const { migrate } = await import('#src/db/migrate.ts')
  await migrate(withDatabase(serverUrl, template))
  project.provide('database', { ...server, template, strategy: await cloneStrategy(serverUrl) })
  if (project.vitest.projects.every(({ name }) => name !== 'long')) opened.defer(sayWhatIsLeft)
  const kept = opened.move()
  return () => kept.disposeAsync()
}

async function sayWhatIsLeft(): Promise<void> {
  process.stdout.write(`${globSync(LONG).length} files of long tests were left to \`npm run test:all\`.\n`)
}
