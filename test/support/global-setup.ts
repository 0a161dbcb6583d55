import { randomBytes } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import { onServer, withDatabase } from './database.ts'
import { openServer } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A server the tests may create databases on, and the name of the migrated one they are cloned from. */
    database: { serverUrl: string; template: string }
  }
}

/** One Postgres and one migrated template database for the whole run; both are gone at its end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using opened = new AsyncDisposableStack()
  const serverUrl = process.env.FERRY_TEST_DATABASE_URL || (await openServer(opened))
  const template = `ferry_template_${randomBytes(3).toString('hex')}`
  await onServer(serverUrl, `create database ${template} template template0 encoding 'UTF8'`)
  opened.defer(() => onServer(serverUrl, `drop database ${template} with (force)`))
  const { migrate } = await import('#src/store/migrate.ts')
  await migrate(withDatabase(serverUrl, template))
  project.provide('database', { serverUrl, template })
  const kept = opened.move()
  return () => kept.disposeAsync()
}
