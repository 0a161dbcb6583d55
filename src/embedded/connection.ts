import { Client } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { ROLE } from './cluster.ts'

/** By its name a connection tells the others that a Ferry is here, or that one is about to go. */
export const PRESENT = 'ferry embedded'
export const LEAVING = 'ferry embedded, leaving'

/** The address of one of its databases. Contains the password: not for logs. */
export function urlOf(password: string, port: number, database: string): string {
  return `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}`
}

/**
 * A connection to the maintenance database, so that `ferry` itself may be dropped or cloned beside it. It is lost
 * with a line in the log, not with a crash.
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
    log.warn({ error: reasonOf(error) }, 'the embedded Postgres cut its connection'),
  )
  await client.connect()
  return client
}
