import { Client } from 'pg'
import { CommandFailed } from '../errors.ts'

/** Removes the data of an earlier demo. Throws `CommandFailed` if another program is connected to it. */
export async function emptyDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url, application_name: 'ferry demo' })
  client.on('error', () => {}) // fails the statement in flight, or the next one
  await client.connect()
  try {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and usesysid is not null`,
    )
    if (rowCount !== 0)
      throw new CommandFailed("another program is connected to the demo's database; end it first")
    await client.query('set client_min_messages = warning')
    await client.query('drop schema if exists ferry cascade')
  } finally {
    await client.end()
  }
}
