import { randomBytes } from 'node:crypto'
import { chown, readFile, rename, writeFile } from 'node:fs/promises'
import type { Client } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import { findColumn } from '#src/db/rows.ts'
import { filesIn } from './cluster.ts'
import { connect, type Login } from './connection.ts'
import { PostgresNotRunning } from './errors.ts'
import type { Placement } from './placement.ts'

/** The name of Ferry's database. */
export const DATABASE = 'ferry'

/**
 * The role that owns the database, as which Ferry works. It is not a superuser: even if its rights leak, they run no
 * program on this machine and read no file of it. It can create roles, for people who only read.
 */
export const OWNER = 'ferry_owner'

/**
 * Makes sure that the role and its database exist, and that the database belongs to the role. Returns how to log in as the
 * owner. Call it under the directory's lock.
 */
export async function ensureOwner(
  superuser: Client,
  login: Login,
  placement: Placement,
  log: Logger,
): Promise<Login> {
  const [owner] = await findColumn(
    superuser,
    z.string(),
    'select datdba::regrole::text from pg_database where datname = $1',
    [DATABASE],
  )
  if (owner === undefined) await superuser.query(`create database ${DATABASE}`)
  // Before anything is made in a directory that is not this one's to change.
  if (owner !== OWNER) await refuseOlder(login, placement, log)
  const password = await ensurePassword(superuser, placement)
  if (owner !== OWNER) await inDatabase(login, log, client => client.query(HAND_OVER))
  return { ...login, user: OWNER, password }
}

/** Creates the role, and gives it a new password if the file of the old one is gone. */
async function ensurePassword(superuser: Client, { home, runAs }: Placement): Promise<string> {
  const file = filesIn(home).ownerPassword
  const { rowCount } = await superuser.query('select from pg_roles where rolname = $1', [OWNER])
  const known = await readFile(file, 'utf8').catch(() => null)
  if (rowCount !== 0 && known !== null) return known
  const password = randomBytes(24).toString('hex')
  await superuser.query(
    rowCount === 0
      ? `create role ${OWNER} login createrole password '${password}'`
      : `alter role ${OWNER} password '${password}'`,
  )
  await writeFile(`${file}.half`, password, { mode: 0o600, flush: true })
  if (runAs.owner) await chown(`${file}.half`, runAs.owner.uid, runAs.owner.gid)
  await rename(`${file}.half`, file)
  return password
}

async function refuseOlder(login: Login, { home }: Placement, log: Logger): Promise<void> {
  const { rowCount } = await inDatabase(login, log, client =>
    client.query(`select from pg_namespace where nspname = 'ferry'`),
  )
  if (rowCount === 0) return
  throw new PostgresNotRunning(
    `The database in ${home} was made by a Ferry from before the first release, and cannot be used by this one. It was left unchanged.`,
    {
      whatToDo:
        'Set FERRY_DATA_DIR to another directory, or move this one away. Ferry then creates a new database.',
    },
  )
}

async function inDatabase<T>(login: Login, log: Logger, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect('ferry embedded, handing over', { ...login, database: DATABASE }, log)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/**
 * In one transaction, whose last statement gives the database away: until then it is done again. Anybody could hold the
 * advisory locks of the queue, as long as he likes: only the owner may take such locks here.
 */
const HAND_OVER = `
  begin;
  set local search_path = pg_catalog, pg_temp;
  do $$
  declare
    statement text;
  begin
    for statement in
      select format('revoke execute on function %1$s from public; grant execute on function %1$s to ${OWNER}', oid::regprocedure)
      from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_(try_)?advisory_'
    loop
      execute statement;
    end loop;
  end $$;
  alter database ${DATABASE} owner to ${OWNER};
  commit`
