import { connectWithinMs } from '#src/model/postgres-address.ts'
import type { Secret } from '#src/model/secret.ts'
import { AT_START } from './reach-postgres.ts'
import { isCode, runPending } from './run-migrations.ts'
import {
  MigrationBlocked,
  SchemaIsOlder,
  SchemaMissing,
  SchemaNotWritable,
  SchemaUnreadable,
} from './schema-errors.ts'
import { loadSchemaState, type SchemaState } from './schema-state.ts'
import { listLockHolders } from './server-facts.ts'
import { WatchedClient } from './watched-client.ts'

const LOCK_NOT_AVAILABLE = '55P03'
const INSUFFICIENT_PRIVILEGE = '42501'

/** How long a migration waits for others that migrate, or that use a table it changes. */
const WAIT_MS = 60_000

/**
 * The changes to the schema that are allowed: `read` changes nothing, `create` creates a missing one, `update` also brings an
 * older one up to date. `plan` changes nothing either, and accepts any that this code could bring up to date.
 */
export type SchemaPolicy = 'read' | 'create' | 'update' | 'plan'

const MIGRATE = 'ferry migrate'

/** Who looks for what holds a lock finds the migration by its name, unless the address gives all connections one. */
const RENAME = `select set_config('application_name', $2, false) where current_setting('application_name') = $1`

type Options = {
  /** The password, if the address does not contain it. */
  readonly secret?: Secret | null
  /** An abort ends the wait and rolls the migration back. */
  readonly signal?: AbortSignal
  readonly waitMs?: number
  /** A connection to use, which is then ended; by default one is made. */
  readonly connected?: WatchedClient | undefined
}

/**
 * Brings the database up to the schema of this code, as far as `policy` allows. Returns how many migrations ran.
 *
 * Any number of processes may call this at once, behind any pooler: a lock lets one process through at a time. If nothing is
 * pending, it takes no lock and needs no right to create. If a migration fails, those before it stay: they change nothing that
 * an older Ferry needs.
 * Throws `DatabaseIsNewer`, `DatabaseUnsupported`, `SchemaTaken`, `SchemaLeftOver`, `SchemaMissing`, `SchemaIsOlder`,
 * `SchemaUnreadable`, `SchemaNotWritable` or `MigrationBlocked`.
 */
export async function migrate(
  databaseUrl: string,
  policy: SchemaPolicy = 'update',
  { secret = null, signal, waitMs = WAIT_MS, connected }: Options = {},
): Promise<number> {
  const client =
    connected ??
    new WatchedClient({
      connectionString: databaseUrl,
      secret,
      application_name: MIGRATE,
      connectionTimeoutMillis: connectWithinMs(databaseUrl),
    })
  const stop = () => client.connection.stream.destroy()
  signal?.addEventListener('abort', stop)
  try {
    signal?.throwIfAborted()
    if (!connected) await client.connect()
    const state = await loadSchemaState(client).catch(error => {
      throw isCode(error, INSUFFICIENT_PRIVILEGE) ? new SchemaUnreadable(databaseUrl, error) : error
    })
    expectAllowed(policy, state)
    if (state.pending.length === 0 || policy === 'plan') return 0
    await client.query(RENAME, [AT_START, MIGRATE])
    return await runPending(client, { url: databaseUrl, secret, waitMs, signal }).catch(error => {
      throw isCode(error, INSUFFICIENT_PRIVILEGE) ? new SchemaNotWritable(databaseUrl, error) : error
    })
  } catch (error) {
    signal?.throwIfAborted()
    if (!isCode(error, LOCK_NOT_AVAILABLE)) throw error
    throw new MigrationBlocked(databaseUrl, waitMs, await listLockHolders(client), error)
  } finally {
    signal?.removeEventListener('abort', stop)
    await client.end()
  }
}

function expectAllowed(policy: SchemaPolicy, { exists, pending }: SchemaState): void {
  if (policy === 'plan') return
  if (!exists && policy === 'read') throw new SchemaMissing()
  if (exists && pending.length > 0 && policy !== 'update') throw new SchemaIsOlder(pending.length)
}
