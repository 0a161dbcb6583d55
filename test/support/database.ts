import { randomBytes } from 'node:crypto'
import { Client, Pool } from 'pg'
import { inject } from 'vitest'
import { waitFor } from './wait-for.ts'

export type TestDatabase = {
  readonly url: string
  readonly name: string
  [Symbol.asyncDispose](): Promise<void>
}

/** A queue in Postgres needs tables, which take longer to make than the rest of most tests. */
export type Tables = { readonly hasQueue?: boolean }

/**
 * A fresh database with Ferry's schema and no rows, cloned from the template.
 *
 * Disposing drops it, and throws if a connection to it was still open: a pool, worker or queue the test forgot.
 */
export async function openTestDatabase({ hasQueue = false }: Tables = {}): Promise<TestDatabase> {
  const { serverUrl, template, withQueue, strategy } = inject('database')
  const name = `${template}_${randomBytes(4).toString('hex')}`
  const from = hasQueue ? withQueue : template
  await cloneTemplate(serverUrl, `create database ${name} template ${from} strategy ${strategy}`)
  return {
    url: withDatabase(serverUrl, name),
    name,
    async [Symbol.asyncDispose]() {
      const admin = adminOf(serverUrl)
      const forgotten = await connectionsLeft(admin, name)
      await admin.query(`drop database ${name} with (force)`)
      if (forgotten.length > 0) throw new Error(`The test left connections open: ${forgotten.join(', ')}`)
    },
  }
}

/** A database without Ferry's schema, and a client in it. */
export async function openEmptyDatabase() {
  await using opened = new AsyncDisposableStack()
  const { serverUrl, template } = inject('database')
  const name = `${template}_${randomBytes(4).toString('hex')}`
  await onServer(serverUrl, `create database ${name}`)
  opened.defer(() => onServer(serverUrl, `drop database ${name} with (force)`))
  const url = withDatabase(serverUrl, name)
  const client = new Client({ connectionString: url })
  await client.connect()
  opened.defer(() => client.end())
  const kept = opened.move()
  return { url, client, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Runs one statement that cannot take parameters or run in a transaction, on the server's own database. */
export async function onServer(serverUrl: string, statement: string): Promise<void> {
  const admin = new Client({ connectionString: serverUrl, application_name: 'ferry test support' })
  await admin.connect()
  await admin.query(statement).finally(() => admin.end())
}

/**
 * How this server copies a template fastest. Copying files takes a fifth of the CPU time of writing the copy to the WAL,
 * but if fsync is on, it waits for the disk.
 */
export async function cloneStrategy(serverUrl: string): Promise<'file_copy' | 'wal_log'> {
  const { rows } = await adminOf(serverUrl).query<{ fsync: string }>('show fsync')
  return rows[0]?.fsync === 'off' ? 'file_copy' : 'wal_log'
}

/** The same server, another database. */
export function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Tries again while Postgres refuses because the template is in use (55006), such as by another clone. */
async function cloneTemplate(serverUrl: string, statement: string): Promise<void> {
  const admin = adminOf(serverUrl)
  const clone = () => admin.query(statement)
  const cloned = await waitFor(
    () =>
      clone().then(
        () => ({ failure: undefined }),
        failure => (failure.code === '55006' ? undefined : { failure }),
      ),
    { what: 'a copy of the template database' },
  )
  if (cloned.failure) throw cloned.failure
}

/** Who is still connected. A backend ends some milliseconds after its client has closed: this waits for it. */
async function connectionsLeft(admin: Pool, name: string): Promise<string[]> {
  let left: string[] = []
  const allGone = async () => {
    const { rows } = await admin.query<{ who: string }>(
      `select application_name || ' (' || coalesce(state, 'unknown') || ')' as who
         from pg_stat_activity where datname = $1 and usesysid is not null`,
      [name],
    )
    left = rows.map(row => row.who)
    return left.length === 0
  }
  await waitFor(allGone, { timeoutMs: 20_000, what: 'the last connection to close' }).catch(() => {})
  return left
}

const admins = new Map<string, Pool>()

/** One connection for all test files of a process: it makes and drops databases. It keeps no process from ending. */
function adminOf(serverUrl: string): Pool {
  const known = admins.get(serverUrl)
  if (known) return known
  const admin = new Pool({ connectionString: serverUrl, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
  admin.on('error', () => {}) // the server was stopped
  admins.set(serverUrl, admin)
  return admin
}
