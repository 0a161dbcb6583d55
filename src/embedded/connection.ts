import { Client } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { ROLE } from './cluster.ts'

/** Names of connections. They show other processes that a Ferry uses the server, or that it is about to disconnect. */
export const PRESENT = 'ferry embedded'
export const LEAVING = 'ferry embedded, leaving'

/** Returns the URL of a database. It contains the password: never log it. */
export function urlOf(password: string, port: number, database: string): string {
  return `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}`
}

/**
 * Opens a connection to the maintenance database, so that the database `ferry` can be dropped or cloned meanwhile. If the
 * connection breaks, that is logged and does not end the process.
 */
export async function connect(
  name: typeof PRESENT | typeof LEAVING,
  { password, port, log }: { password: string; port: number; log: Logger },
): Promise<Client> {
  const client = new Client({
    connectionString: urlOf(password, port, 'postgres'),
    application_name: name,
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
    keepAlive: true,
  })
  client.on('error', error =>
    log.warn({ error: reasonOf(error) }, 'The connection to the embedded Postgres broke.'),
  )
  await client.connect()
  return client
}
