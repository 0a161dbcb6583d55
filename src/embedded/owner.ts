import { randomBytes } from 'node:crypto'
import { chown, readFile, rename, writeFile } from 'node:fs/promises'
import { type Client, DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { filesIn, SUPERUSER } from './cluster.ts'
import { connect, type Login } from './connection.ts'
import { PostgresNotRunning } from './errors.ts'
import type { Placement } from './placement.ts'

/** The name of Ferry's database. */
export const DATABASE = 'ferry'

/**
 * The role that owns the database, as which Ferry works. It is no superuser: whoever gets its rights, by whatever mistake,
 * runs no program on this machine and reads no file of it. It may create roles, for people who only read.
 */
const OWNER = 'ferry_owner'

/** The directory's lock is held meanwhile. */
const LOCK_WITHIN_MS = 5_000
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Makes sure that the role and its database exist, and that the database belongs to the role: one of an older Ferry, which
 * worked as the superuser, is handed over. Returns how to log in as the owner. Call it under the directory's lock.
 */
export async function ensureOwner(
  superuser: Client,
  login: Login,
  placement: Placement,
  log: Logger,
): Promise<Login> {
  const password = await ensurePassword(superuser, placement)
  const { rows } = await superuser.query<{ owner: string }>(
    'select datdba::regrole::text as owner from pg_database where datname = $1',
    [DATABASE],
  )
  if (rows.length === 0) await superuser.query(`create database ${DATABASE}`)
  if (rows[0]?.owner !== OWNER) await handOver(login, placement, log)
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

/** In one transaction, whose last statement gives the database itself away: until then it is done again. */
async function handOver(login: Login, { home }: Placement, log: Logger): Promise<void> {
  const client = await connect('ferry embedded, handing over', { ...login, database: DATABASE }, log)
  try {
    await client.query(HAND_OVER)
  } catch (cause) {
    if (!(cause instanceof DatabaseError) || cause.code !== LOCK_NOT_AVAILABLE) throw cause
    throw new PostgresNotRunning(
      `The database in ${home} is to be given to the role ${OWNER}, which is no superuser, but other programs use its tables.`,
      {
        whatToDo:
          'End every Ferry of an older version, and other programs that use this database. Then try again.',
        cause,
      },
    )
  } finally {
    await client.end()
  }
}

/**
 * Gives everything that the superuser has in this database to the owner (`REASSIGN OWNED` refuses to, for this superuser),
 * and the roles that it has made, as if the owner had made them. And since anybody could hold the advisory locks of the
 * queue, as long as he likes, only the owner may take such locks here.
 */
const HAND_OVER = `
  begin;
  set local lock_timeout = ${LOCK_WITHIN_MS};
  set local search_path = pg_catalog, pg_temp;
  do $$
  declare
    statement text;
  begin
    for statement in
      with mine as (
        select oid, nspname, nspowner from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
      ), parts as (
        select classid, objid from pg_depend where deptype = 'e' or classid = 'pg_class'::regclass and deptype in ('a', 'i')
          and refclassid = 'pg_class'::regclass
      )
      select format('alter schema %I owner to ${OWNER}', nspname) from mine where nspowner = '${SUPERUSER}'::regrole
      union all
      select format('alter table %s owner to ${OWNER}', oid::regclass) from pg_class
      where relnamespace in (select oid from mine) and relowner = '${SUPERUSER}'::regrole
        and relkind in ('r', 'p', 'v', 'm', 'f', 'S') and ('pg_class'::regclass, oid) not in (select classid, objid from parts)
      union all
      select format('alter routine %s owner to ${OWNER}', oid::regprocedure) from pg_proc
      where pronamespace in (select oid from mine) and proowner = '${SUPERUSER}'::regrole
        and ('pg_proc'::regclass, oid) not in (select classid, objid from parts)
      union all
      select format('alter type %s owner to ${OWNER}', oid::regtype) from pg_type
      where typnamespace in (select oid from mine) and typowner = '${SUPERUSER}'::regrole
        and (typtype in ('d', 'e', 'r') or typrelid in (select oid from pg_class where relkind = 'c'))
        and ('pg_type'::regclass, oid) not in (select classid, objid from parts)
      union all
      select format('grant %I to ${OWNER} with admin true, inherit false, set false', rolname) from pg_roles
      where rolname !~ '^pg_' and rolname <> '${OWNER}' and not rolsuper
      union all
      select format('revoke execute on function %1$s from public; grant execute on function %1$s to ${OWNER}', oid::regprocedure)
      from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_(try_)?advisory_'
    loop
      execute statement;
    end loop;
  end $$;
  alter database ${DATABASE} owner to ${OWNER};
  commit`
