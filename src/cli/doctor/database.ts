import { listMissingRights, type MissingRight } from '#src/db/missing-rights.ts'
import { poolSizeOf } from '#src/db/pool.ts'
import { loadConnectionFacts, loadServerFacts, type ServerFacts } from '#src/db/server-facts.ts'
import type { Ferry } from '#src/ferry.ts'
import { stepsOfHold } from '#src/inventory/next-steps.ts'
import { listOpenHolds } from '#src/inventory/open-holds.ts'
import { counted } from '#src/model/counted.ts'
import { stepsInWords } from '#src/model/next-step.ts'
import { placeOf } from '#src/model/postgres-address.ts'
import { connectionBudget } from '#src/queue/backend.ts'
import { loadReaderState, READER } from '#src/reports/reader-role.ts'
import { EXIT } from '../exit.ts'
import { type Finding, failed, orFailed } from './finding.ts'

/** Yields what the database lacks. That it is new enough and migrated is known: Ferry could not have opened otherwise. */
export async function* databaseFindings(ferry: Ferry): AsyncGenerator<Finding> {
  yield* orFailed('postgres', checkServer(ferry))
  yield await checkRights(ferry).catch(failed('rights'))
  yield await checkReader(ferry).catch(failed('reader'))
  yield await checkConnections(ferry).catch(failed('connections'))
  yield* orFailed('holds', openHolds(ferry))
}

async function* checkServer({ pool, backend, embedded }: Ferry): AsyncGenerator<Finding> {
  const facts = await loadServerFacts(pool)
  const where = embedded === null ? `at ${placeOf(backend.databaseUrl)}` : `embedded, ${embedded}`
  yield versionFinding(facts, where)
  if (facts.isSuperuser) yield superuserFinding(facts.role)
  if (facts.isPublicOpen) yield OPEN_PUBLIC
  if (facts.isolation === 'read committed') return
  yield {
    check: 'isolation',
    status: 'ok',
    found: `the default here is ${facts.isolation}; Ferry runs its own transactions as read committed, which its limits need`,
  }
}

function versionFinding({ version, isReadOnly }: ServerFacts, where: string): Finding {
  const found = `version ${version}, ${where}`
  if (!isReadOnly) return { check: 'postgres', status: 'ok', found: `${found}; the schema is up to date` }
  return {
    check: 'postgres',
    status: 'fail',
    found: `${found}; it takes no writes`,
    whatToDo:
      'It is a standby, or a failover is in progress: wait, or name the primary in DATABASE_URL. If it is neither, ' +
      'default_transaction_read_only is on for this server, database or role.',
  }
}

function superuserFinding(role: string): Finding {
  return {
    check: 'role',
    status: 'warn',
    found:
      `the role ${role} of DATABASE_URL is a superuser: whoever gets its rights, by a mistake or a stolen password, runs ` +
      "programs on the database's machine and reads every database of it",
    whatToDo:
      'Give Ferry a database that belongs to a role of its own, without SUPERUSER, and name that role in DATABASE_URL: ' +
      'docs/operators.md, "The role that Ferry works as", has the SQL.',
  }
}

/** So it is in a database that comes from Postgres 14 or older. */
const OPEN_PUBLIC: Finding = {
  check: 'role',
  status: 'warn',
  found:
    'every role may create functions and operators in the schema public, where Postgres looks up those of Ferry: a role ' +
    'that only reads may have its own run in their place, with the rights of this role',
  whatToDo: 'As the owner of the database: REVOKE CREATE ON SCHEMA public FROM PUBLIC;',
}

/** The queue's schema exists only if the queue has lived in Postgres. */
const SCHEMAS = ['ferry', 'ferry_queue']

/** Grants are easily forgotten when one role creates the tables and another one uses them. */
async function checkRights({ pool }: Ferry): Promise<Finding> {
  const missing = await listMissingRights(pool, SCHEMAS)
  const [first] = missing
  if (!first) {
    return {
      check: 'rights',
      status: 'ok',
      found: 'this role has every right on its tables that Ferry needs',
    }
  }
  return {
    check: 'rights',
    status: 'fail',
    found: `the role ${first.role} lacks rights: ${missing.map(describeRight).join('; ')}`,
    whatToDo:
      `As their owner: GRANT USAGE ON SCHEMA ferry, ferry_queue TO "${first.role}"; ` +
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ferry, ferry_queue TO "${first.role}"; ` +
      `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ferry, ferry_queue TO "${first.role}"; ` +
      `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ferry, ferry_queue TO "${first.role}"; ` +
      `GRANT TEMPORARY ON DATABASE … TO "${first.role}"; (docs/operators.md, "Two roles")`,
  }
}

function describeRight({ kind, right, objects }: MissingRight): string {
  const names = objects.join(', ')
  if (kind === 'table') return `${right} on ${names}`
  if (kind === 'database') return 'temporary tables, which the staging of imports needs'
  return `${right} of the ${kind} ${names}`
}

/** The role that only reads is a wish: without it Ferry works, and nobody reads with its rights. */
async function checkReader({ pool }: Ferry): Promise<Finding> {
  const { exists, isRight, statements } = await loadReaderState(pool)
  if (exists && isRight) {
    return {
      check: 'reader',
      status: 'ok',
      found: `the role ${READER} has its rights: views and reports, no people`,
    }
  }
  return {
    check: 'reader',
    status: 'warn',
    found: exists
      ? `the role ${READER} lacks rights, or has some that it should not have`
      : `there is no role ${READER}, which reads views and reports and no people`,
    whatToDo: `\`ferry migrate\` makes it. If its role may not, run this as the owner of the tables who may create roles: ${statements.join('; ')};`,
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
    return { check: 'connections', status: 'ok', found: `${found}: room for ${workers} workers` }
  }
  return {
    check: 'connections',
    status: 'fail',
    found: `${found}: no room for one`,
    whatToDo:
      'Raise max_connections (or the limit of the database or role), or set REDIS_URL, which takes fewer.',
  }
}

async function* openHolds({ pool }: Ferry): AsyncGenerator<Finding> {
  const holds = await listOpenHolds(pool)
  for (const { account, resource, lastRun, rows } of holds) {
    yield {
      check: 'holds',
      status: 'warn',
      found: `account ${account}, ${resource}: the removal of ${counted(rows, 'row')} waits for a decision`,
      whatToDo: stepsInWords(stepsOfHold(lastRun)),
      exit: EXIT.undecided,
    }
  }
  if (holds.length === 0) yield { check: 'holds', status: 'ok', found: 'no removal waits for a decision' }
}
