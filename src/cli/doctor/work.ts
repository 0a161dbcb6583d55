import type { Pool } from 'pg'
import { listUnfinished } from '#src/db/backfill.ts'
import { findInstallation } from '#src/db/installation.ts'
import { inTransaction } from '#src/db/pool.ts'
import { listWorkers, type WorkerRow } from '#src/db/workers.ts'
import type { Ferry } from '#src/ferry.ts'
import { isAnyImportActive } from '#src/imports/reporting/stuck.ts'
import { counted } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import type { Secret } from '#src/model/secret.ts'
import { countUndelivered, listUnknownReceivers, undeliveredInWords } from '#src/notify/list-events.ts'
import { checkQueue } from '#src/queue/check.ts'
import { QueueHasNoTables } from '#src/queue/refused.ts'
import { explainLateness, type Freshness, isLate, loadFreshness } from '#src/reports/freshness.ts'
import { isAnySlotOpen, listPauses } from '#src/schedules/control.ts'
import { EVERY_ACCOUNT } from '#src/schedules/definition.ts'
import { BACKFILLS } from '#src/worker/backfills.ts'
import { questionsOf } from '#src/worker/notifications.ts'
import { isConfigured, listKnownAccounts } from '../accounts.ts'
import { neverRead } from '../freshness.ts'
import { instant } from '../output.ts'
import { loadSchedules } from '../schedules.ts'
import { ANSWER_WITHIN_MS, type Finding, failed, NoAnswer } from './finding.ts'

/** Yields the inventories that are older than their freshness target, with why. */
export async function* inventoryFindings(ferry: Ferry): AsyncGenerator<Finding> {
  const known = await loadFreshness(ferry.pool)
  const accounts = new Set(known.map(({ account }) => account))
  // Beside others that are read; of a new installation nothing is.
  const unread = known.length === 0 ? [] : neverRead(ferry, known)
  const late = [...known, ...unread.filter(({ account }) => !accounts.has(account))].filter(isLate)
  yield* late.map(freshness => lateFinding(freshness, isConfigured(ferry.config, freshness.account)))
  if (late.length > 0) return
  const found =
    known.length > 0
      ? 'none is older than its freshness target'
      : 'none has been read yet; `ferry sync all` reads them'
  yield { check: 'inventories', status: 'ok', found }
}

/** The first reading may be under way, which is no failure unless its runs fail. */
function lateFinding(freshness: Freshness, maySyncHere: boolean): Finding {
  const { account, inventory, state, whyLate, ageMs, targetMs } = freshness
  const isFirst = state === 'never' && whyLate !== 'failed' && whyLate !== 'partial'
  const age =
    ageMs === null
      ? 'it has never been read completely'
      : `it was read ${duration(Math.abs(ageMs))} ${ageMs < 0 ? 'in the future' : 'ago'}${targetMs === null ? '' : `, and should be read every ${duration(targetMs)}`}`
  return {
    check: 'inventories',
    status: isFirst ? 'warn' : 'fail',
    found: `account ${account}, ${inventory}: ${age}`,
    whatToDo: [
      explainLateness(freshness),
      maySyncHere ? `\`ferry sync ${inventory} --account ${account}\` reads it now.` : null,
    ]
      .filter(Boolean)
      .join(' '),
  }
}

/** Yields the schedules that are paused, which do not run until they are resumed, those that failed last time, and missed nights. */
export async function* scheduleFindings(ferry: Ferry): AsyncGenerator<Finding> {
  const known = await loadSchedules(ferry)
  const paused = await listPauses(ferry.pool)
  const failed = known.filter(({ lastOutcome }) => lastOutcome === 'failed')
  for (const { schedule, account } of paused) {
    yield {
      check: 'schedules',
      status: 'warn',
      found: `${scheduleOf(schedule, account)} is paused`,
      whatToDo:
        `\`ferry schedules resume ${schedule}${optionOf(account)}\` runs it again; ` +
        '`ferry audit --action pause` shows who paused it, and why.',
    }
  }
  for (const { name, account } of failed) {
    yield {
      check: 'schedules',
      status: 'warn',
      found: `${scheduleOf(name, account)} failed the last time that it ran`,
      whatToDo: `The log of the worker says why. \`ferry schedules run ${name}${optionOf(account)}\` tries again now.`,
    }
  }
  const missed = await listMissedNights(ferry)
  for (const { account, night } of missed) {
    yield {
      check: 'schedules',
      status: 'warn',
      found: `account ${account} has no snapshot since its night at ${instant(night)}`,
      whatToDo: `\`ferry snapshots take --account ${account}\` takes one now. A worker has to run at night, or within FERRY_CATCH_UP after it.`,
    }
  }
  if (paused.length + failed.length + missed.length === 0) {
    yield {
      check: 'schedules',
      status: 'ok',
      found: 'none is paused, none failed the last time that it ran, and no night was missed',
    }
  }
}

/** Of the accounts that workers have, or had. */
async function listMissedNights({ pool, config }: Ferry) {
  const nights = questionsOf({ cron: config.nightlyCron, timezone: config.timezone })
  const accounts = await nights.listAccounts(pool)
  return inTransaction(pool, client => nights.listMissedNights(client, accounts))
}

function scheduleOf(name: string, account: string): string {
  return account === EVERY_ACCOUNT ? name : `${name} of account ${account}`
}

function optionOf(account: string): string {
  return account === EVERY_ACCOUNT ? '' : ` --account ${account}`
}

const START = '`ferry up` or `ferry worker` starts one.'

const MAX_WORKERS = 1_000
/** Naming more of those that went silent would not help. */
const MAX_NAMED = 20

/** Yields the workers that went silent while work is due. */
export async function* workerFindings({ pool }: Pick<Ferry, 'pool'>): AsyncGenerator<Finding> {
  const workers = await listWorkers(pool, MAX_WORKERS)
  const alive = workers.filter(({ isAlive }) => isAlive)
  const silent = workers.filter(({ isAlive }) => !isAlive)
  const isDue = await isWorkDue(pool)
  if (isDue) yield* silentFindings(silent)
  if (alive.length > 0) {
    const others = !isDue && silent.length > 0 ? `; ${counted(silent.length, 'other')} went silent today` : ''
    yield { check: 'workers', status: 'ok', found: `${counted(alive.length, 'worker')} alive${others}` }
  } else if (isDue) {
    yield { check: 'workers', status: 'fail', found: 'work is due, but no worker is alive', whatToDo: START }
  } else {
    yield { check: 'workers', status: 'ok', found: `no worker is running, and no work is due; ${START}` }
  }
}

function* silentFindings(silent: readonly WorkerRow[]): Generator<Finding> {
  yield* silent.slice(0, MAX_NAMED).map(silentFinding)
  const others = silent.length - MAX_NAMED
  if (others > 0) {
    yield {
      check: 'workers',
      status: 'warn',
      found: `${counted(others, 'other worker has', 'other workers have')} been silent for longer`,
      whatToDo: '`select * from ferry.workers order by seen_at` lists them all.',
    }
  }
}

function silentFinding({ host, pid, seenAt }: WorkerRow): Finding {
  return {
    check: 'workers',
    status: 'warn',
    found: `the worker on ${host}, process ${pid}, has been silent since ${instant(seenAt)}`,
    whatToDo:
      'Check its log: it may have crashed, be stuck, or be unable to reach the database. Other workers take over its work. ' +
      'If it was stopped for good, this line disappears after a day.',
  }
}

/** Yields the backfills of migrations that have not ended: a worker goes on with them. */
export async function* backfillFindings({ pool }: Pick<Ferry, 'pool'>): AsyncGenerator<Finding> {
  const names = BACKFILLS.map(({ name }) => name)
  for (const { name, batches, changedAt } of await listUnfinished(pool, names)) {
    const progress = changedAt
      ? `${counted(batches, 'batch', 'batches')} done, the last at ${instant(changedAt)}`
      : 'not begun'
    yield {
      check: 'backfills',
      status: 'warn',
      found: `the backfill ${name} has not ended: ${progress}`,
      whatToDo: `A worker goes on with it, batch by batch. ${START} Upgrade to the release after this one only once it has ended.`,
    }
  }
}

/** Whether an import waits to be sent, an inventory is older than its freshness target, or somebody asked for a schedule to run now. */
async function isWorkDue(pool: Pool): Promise<boolean> {
  if ((await isAnyImportActive(pool)) || (await isAnySlotOpen(pool))) return true
  return (await loadFreshness(pool)).some(({ state }) => state === 'late')
}

/** Checks the queue's version and rules, its tables in Postgres, and that it accepts a job. Creates no tables. */
export function checkQueueOf({ backend, pool }: Pick<Ferry, 'backend' | 'pool'>): Promise<Finding> {
  const checked = async () =>
    checkQueue({ ...backend, installation: (await findInstallation(pool))?.id ?? null })
  return inTime(checked())
}

/** Checks Redis while the database, which holds the installation's id, cannot be reached. */
export function checkRedisAlone(redisUrl: string, redisPassword: Secret | null): Promise<Finding> {
  return inTime(checkQueue({ databaseUrl: '', redisUrl, redisPassword, installation: null }))
}

/** Resolves with what the check found, or that the queue did not answer in time; what the check does then is ignored. */
async function inTime(check: Promise<string>): Promise<Finding> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(queueSilent()), ANSWER_WITHIN_MS)
  check.catch(() => {})
  try {
    return { check: 'queue', status: 'ok', found: await Promise.race([check, promise]) }
  } catch (error) {
    return error instanceof QueueHasNoTables ? NO_TABLES : failed('queue')(error)
  } finally {
    clearTimeout(timer)
  }
}

function queueSilent(): NoAnswer {
  return new NoAnswer(
    'the queue',
    'Check that Redis (REDIS_URL) runs and can be reached; without REDIS_URL the queue is in Postgres.',
  )
}

/** Only a warning: no worker has created the tables yet. */
const NO_TABLES: Finding = {
  check: 'queue',
  status: 'warn',
  found: 'the queue is in Postgres and has no tables there yet',
  whatToDo: '`ferry migrate` creates them, and so does `ferry up` or a `ferry worker` when it starts.',
}

/**
 * Looks for messages that a receiver did not accept, and for a receiver that is told of an account that nobody knows, or that no worker
 * has. Null if there are none and no receiver is set here: the workers may have some.
 */
export async function checkNotifications(ferry: Ferry): Promise<Finding | null> {
  const { pool, config } = ferry
  const { receivers } = config.notify
  const names = receivers.map(({ name }) => name)
  const found = undeliveredInWords(await countUndelivered(pool, names.length === 0 ? null : names))
  const check = 'notifications'
  if (found !== null) {
    return {
      check,
      status: 'warn',
      found,
      whatToDo: '`ferry notify list --undelivered` shows why; `ferry notify test` tries the receiver.',
    }
  }
  if (names.length === 0) return null
  const known = await listKnownAccounts(ferry)
  const unheard = receivers.flatMap(({ name, filter }) =>
    (filter.accounts ?? [])
      .filter(account => !known.includes(account))
      .map(account => `${name} is to be told of account ${account}, which is not known`),
  )
  if (unheard.length > 0) {
    const whatToDo = `Correct its filter in FERRY_RECEIVERS_FILE. The accounts are ${known.join(', ')}.`
    return { check, status: 'warn', found: unheard.join('; '), whatToDo }
  }
  const unknown = await listUnknownReceivers(pool, names)
  if (unknown.length > 0 && (await listWorkers(pool, MAX_WORKERS)).some(({ isAlive }) => isAlive)) {
    const whatToDo = 'Start the workers with the settings that this command has.'
    return {
      check,
      status: 'warn',
      found: `no worker has ${unknown.join(', ')} in its settings: nobody is told`,
      whatToDo,
    }
  }
  const unsigned = receivers.filter(({ format, key }) => format === 'standard' && key === null)
  if (unsigned.length > 0) {
    return {
      check,
      status: 'warn',
      found: `messages are sent, but not signed: ${unsigned.map(({ name }) => name).join(', ')}`,
      whatToDo:
        'Set FERRY_WEBHOOK_SECRET, or secretEnv in FERRY_RECEIVERS_FILE, so that the receiver can verify that they come from Ferry.',
    }
  }
  return { check, status: 'ok', found: 'every message was accepted' }
}
