import { Client } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'

/** Names of connections. They show other processes that a Ferry uses the server, or that it is about to disconnect. */
export const PRESENT = 'ferry embedded'
export const LEAVING = 'ferry embedded, leaving'

/** How to log in. Holds the password: never log it. */
export type Login = {
  readonly port: number
  readonly user: string
  readonly password: string
  /** The maintenance database, unless it is said, so that the database `ferry` can be dropped or cloned meanwhile. */
  readonly database?: string
}

/** Returns the URL of a database. It contains the password: never log it. */
export function urlOf({ port, user, password, database = 'postgres' }: Login): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`
}

/** Opens a connection. If it breaks, that is logged and does not end the process. */
export async function connect(name: string, login: Login, log: Logger): Promise<Client> {
  const client = new Client({
    connectionString: urlOf(login),
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
