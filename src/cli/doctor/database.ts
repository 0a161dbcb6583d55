import { statfs } from 'node:fs/promises'
import type { Pool } from 'pg'
import { readClock, readSetBackMs } from '#src/db/clock.ts'
import { findCause, listDatabaseChanges } from '#src/db/known-database.ts'
import { poolSizeOf } from '#src/db/pool.ts'
import {
  listMissingRights,
  loadConnectionFacts,
  loadServerFacts,
  type MissingRight,
  type ServerFacts,
} from '#src/db/server-facts.ts'
import type { Ferry } from '#src/ferry.ts'
import { listOpenHolds } from '#src/inventory/holds/list-holds.ts'
import { nextOfHold } from '#src/inventory/runs/next-steps.ts'
import { counted } from '#src/model/counted.ts'
import { changeInWords, isNews } from '#src/model/database-change.ts'
import { duration } from '#src/model/duration.ts'
import { placeOf } from '#src/model/postgres-address.ts'
import { connectionBudget } from '#src/queue/backend.ts'
import { listStaleAccountReaders } from '#src/reports/account-readers.ts'
import { loadReaderState, READER } from '#src/reports/reader-role.ts'
import { isConfigured } from '../accounts.ts'
import { EXIT } from '../exit.ts'
import { instant } from '../output.ts'
import { type Finding, failed, orFailed } from './finding.ts'

/** Yields what the database lacks. It is new enough and migrated, or Ferry could not have opened it. */
export async function* databaseFindings(ferry: Ferry): AsyncGenerator<Finding> {
  yield* orFailed('postgres', checkServer(ferry))
  yield await checkRights(ferry).catch(failed('rights'))
  yield await checkReader(ferry).catch(failed('reader'))
  yield await checkIdentity(ferry.pool).catch(failed('database'))
  yield await checkConnections(ferry).catch(failed('connections'))
  yield* orFailed('holds', openHolds(ferry))
}

async function* checkServer({ pool, backend, embedded, config }: Ferry): AsyncGenerator<Finding> {
  const facts = await loadServerFacts(pool)
  const where = embedded === null ? `at ${placeOf(backend.databaseUrl)}` : `embedded, ${embedded}`
  yield versionFinding(facts, where)
  if (embedded !== null) yield* checkDisk(config.dataDir)
  if (facts.madeWithLocale !== facts.locale) yield localeFinding(facts)
  if (facts.isSuperuser) yield superuserFinding(facts.role)
  if (facts.isPublicOpen) yield OPEN_PUBLIC
  if (facts.areLocksOpen && backend.redisUrl === null) yield openLocks(facts.lockers)
  if (facts.isolation === 'read committed') return
  yield {
    check: 'isolation',
    status: 'ok',
    found: `the default isolation level is ${facts.isolation}; Ferry runs its own transactions as read committed, as its rate limits require`,
  }
}

/** Postgres ends if there is no room for its log, of which it keeps 16 MB at a time. */
const LEAST_FREE_MB = 64

async function* checkDisk(dataDir: string): AsyncGenerator<Finding> {
  const { bavail, bsize } = await statfs(dataDir)
  const freeMb = Math.floor((bavail * bsize) / 1e6)
  if (freeMb >= LEAST_FREE_MB) return
  yield {
    check: 'postgres',
    status: 'fail',
    found: `the disk is full: ${freeMb} MB are left for the embedded Postgres in ${dataDir}`,
    whatToDo:
      'Free some space. Until then nothing is read or sent; nothing is lost, and Ferry goes on by itself.',
  }
}

function versionFinding({ version, isReadOnly }: ServerFacts, where: string): Finding {
  const found = `version ${version}, ${where}`
  if (!isReadOnly) return { check: 'postgres', status: 'ok', found: `${found}; the schema is up to date` }
  return {
    check: 'postgres',
    status: 'fail',
    found: `${found}; it accepts no writes`,
    whatToDo:
      'It is a standby, or a failover is in progress: wait, or name the primary in DATABASE_URL. If it is neither, ' +
      'default_transaction_read_only is on for this server, database or role.',
  }
}

function localeFinding({ madeWithLocale, locale }: ServerFacts): Finding {
  return {
    check: 'locale',
    status: 'warn',
    found:
      `the database was made with version ${madeWithLocale} of its locale, and the server has ${locale} now: text may sort in ` +
      'another order than indexes expect, which then miss rows',
    whatToDo:
      'Stop the workers, and as the owner of the database: REINDEX DATABASE …; ALTER DATABASE … REFRESH COLLATION VERSION; ' +
      '(docs/operators.md, "The locale of the system changed")',
  }
}

function superuserFinding(role: string): Finding {
  return {
    check: 'role',
    status: 'warn',
    found:
      `the role ${role} of DATABASE_URL is a superuser: whoever gets its rights, by a mistake or a stolen password, can run ` +
      "programs on the database's machine and read all of its databases",
    whatToDo:
      'Give Ferry a database owned by a role of its own, without SUPERUSER, and use that role in DATABASE_URL: ' +
      'docs/operators.md, "The role that Ferry works as", has the SQL.',
  }
}

/** The default in a database that was created by Postgres 14 or older. */
const OPEN_PUBLIC: Finding = {
  check: 'role',
  status: 'warn',
  found:
    'every role can create functions and operators in the schema public, where Postgres also looks up those that Ferry ' +
    'calls: even a read-only role can have its own run in their place, with the rights of this role',
  whatToDo: 'As the owner of the database: REVOKE CREATE ON SCHEMA public FROM PUBLIC;',
}

/** The default of every database until these rights are revoked. The embedded Postgres revokes them when it is created. */
function openLocks(lockers: readonly string[]): Finding {
  return {
    check: 'locks',
    status: 'warn',
    found:
      'every role that can connect can hold the advisory locks that the queue in Postgres needs, for as long as it likes: ' +
      'even a read-only role can stop the queue',
    whatToDo:
      'As a superuser, with psql in this database: ' +
      `select format('revoke execute on function %1$s from public; grant execute on function %1$s to ${lockers.join(', ')}', ` +
      "oid::regprocedure) from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_(try_)?advisory_' \\gexec",
  }
}

/** The queue's schema exists only if the queue has lived in Postgres. */
const SCHEMAS = ['ferry', 'ferry_internal', 'ferry_queue']

/** Grants are easily forgotten when one role creates the tables and another one uses them. */
async function checkRights({ pool }: Ferry): Promise<Finding> {
  const missing = await listMissingRights(pool, SCHEMAS)
  const [first] = missing
  if (!first) {
    return {
      check: 'rights',
      status: 'ok',
      found: 'this role has all the rights that Ferry needs',
    }
  }
  return {
    check: 'rights',
    status: 'fail',
    found: `the role ${first.role} lacks rights: ${missing.map(describeRight).join('; ')}`,
    whatToDo:
      `As their owner: GRANT USAGE ON SCHEMA ferry, ferry_internal, ferry_queue TO "${first.role}"; ` +
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ferry, ferry_internal, ferry_queue TO "${first.role}"; ` +
      `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ferry, ferry_internal, ferry_queue TO "${first.role}"; ` +
      `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ferry, ferry_internal, ferry_queue TO "${first.role}"; ` +
      `GRANT TEMPORARY ON DATABASE … TO "${first.role}"; (docs/operators.md, "Two roles")`,
  }
}

function describeRight({ kind, right, objects }: MissingRight): string {
  const names = objects.join(', ')
  if (kind === 'table') return `${right} on ${names}`
  if (kind === 'database') return 'temporary tables, which the staging of imports needs'
  return `${right} of the ${kind} ${names}`
}

/** The read-only role is optional: Ferry works without it. */
async function checkReader({ pool }: Ferry): Promise<Finding> {
  const { exists, isRight, statements } = await loadReaderState(pool)
  const stale = await listStaleAccountReaders(pool)
  if (exists && isRight && stale.length > 0) {
    return {
      check: 'reader',
      status: 'warn',
      found: `what readers of one account see is not up to date, or they may see more: ${stale.join(', ')}`,
      whatToDo: '`ferry migrate` makes it anew, as the owner of the tables.',
    }
  }
  if (exists && isRight) {
    return {
      check: 'reader',
      status: 'ok',
      found: `the role ${READER} can read views and reports, but no recipients`,
    }
  }
  return {
    check: 'reader',
    status: 'warn',
    found: exists
      ? `the role ${READER} lacks rights, or has some that it should not have`
      : `the role ${READER}, which reads views and reports but no recipients, does not exist`,
    whatToDo: `\`ferry migrate\` creates it. If it lacks the rights, run this as a role that owns the tables and can create roles: ${statements.join('; ')};`,
  }
}

const HELD_IN_WORDS =
  'Find out on the platform, or in the lost database, who was sent since then; imports that were confirmed since may be missing ' +
  'altogether. `ferry verify` shows whether the rest is whole. Then `ferry imports resume ID` sends what this database ' +
  'does not know as sent, or `ferry imports cancel ID` ends an import. Inventories need nothing: the next listing corrects them.'

/** Whether this is the database that Ferry knew: after a restore or a failover, rows may be missing. */
async function checkIdentity(pool: Pool): Promise<Finding> {
  const check = 'database'
  const cause = await findCause(pool)
  if (cause !== null) {
    return {
      check,
      status: 'warn',
      found: changeInWords({ cause, missingSince: null }),
      whatToDo: `The next call or worker holds the imports that are sent, and records since when rows may be missing. ${HELD_IN_WORDS}`,
    }
  }
  const [change] = await listDatabaseChanges(pool, 1)
  if (!change || !isNews(change)) {
    return { check, status: 'ok', found: 'it is the database that Ferry knew' }
  }
  const held = `${counted(change.heldImports, 'import was', 'imports were')} held`
  return {
    check,
    status: 'warn',
    found: `${changeInWords(change)} It was noticed at ${instant(change.noticedAt)}; ${held}.`,
    whatToDo: HELD_IN_WORDS,
  }
}

/** Compares the connections that are left with those that one worker may open. */
async function checkConnections({ pool, backend, embedded, config }: Ferry): Promise<Finding> {
  const perWorker =
    poolSizeOf(config.workerConcurrency) + connectionBudget(backend).postgres + (embedded === null ? 0 : 1)
  const { allowed, usedByOthers } = await loadConnectionFacts(pool)
  const workers = Math.floor((allowed - usedByOthers) / perWorker)
  const found = `${allowed} connections allowed, ${usedByOthers} used by others; a worker takes up to ${perWorker}`
  if (workers >= 1) {
    return { check: 'connections', status: 'ok', found: `${found}: room for ${counted(workers, 'worker')}` }
  }
  return {
    check: 'connections',
    status: 'fail',
    found: `${found}: not enough for one worker`,
    whatToDo:
      'Raise max_connections (or the limit of the database or role), or set REDIS_URL, which needs fewer.',
  }
}

async function* openHolds({ pool, config }: Ferry): AsyncGenerator<Finding> {
  const holds = await listOpenHolds(pool)
  for (const { account, resource, lastRun, rows } of holds) {
    yield {
      check: 'holds',
      status: 'warn',
      found: `account ${account}, ${resource}: the removal of ${counted(rows, 'row')} waits for a decision`,
      whatToDo: nextOfHold(lastRun, account, isConfigured(config, account), 'not shown'),
      exit: EXIT.undecided,
    }
  }
  if (holds.length === 0) yield { check: 'holds', status: 'ok', found: 'no removal waits for a decision' }
}

/** With a larger difference, the times in this machine's log and in the tables cannot be compared. */
const MAX_DIFFERENCE_MS = 2_000
const SAMPLES = 5

/**
 * Compares the database's clock to the last calls, then this machine's clock to it. Takes the sample with the shortest round
 * trip: it is the most exact.
 */
export async function checkClock(pool: Pool): Promise<Finding> {
  const setBackMs = await readSetBackMs(pool)
  if (setBackMs > 0) {
    return {
      check: 'clock',
      status: 'warn',
      found: `the database's clock was set back: the latest calls began ${duration(setBackMs)} after its current time`,
      whatToDo:
        'Runs and imports of accounts with such calls may wait until the clock catches up. Let NTP slew the clock, not step it.',
    }
  }
  let best = await readClock(pool)
  for (let sample = 1; sample < SAMPLES; sample++) {
    const reading = await readClock(pool)
    if (reading.roundTripMs < best.roundTripMs) best = reading
  }
  const size = duration(Math.abs(best.aheadMs))
  const found = `the database's clock is ${size} ${best.aheadMs > 0 ? 'behind' : 'ahead of'} this machine's`
  if (Math.abs(best.aheadMs) <= MAX_DIFFERENCE_MS) return { check: 'clock', status: 'ok', found }
  return {
    check: 'clock',
    status: 'warn',
    found,
    whatToDo:
      "Synchronise both clocks with NTP. Limits, schedules and history use the database's clock; this machine's log does not.",
  }
}
