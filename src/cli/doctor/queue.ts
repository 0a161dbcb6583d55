import { findInstallation } from '#src/db/installation.ts'
import type { Ferry } from '#src/ferry.ts'
import { checkQueue } from '#src/queue/check.ts'
import { QueueHasNoTables } from '#src/queue/refused.ts'
import { type Finding, failed } from './finding.ts'

/** Checks the queue's version and rules, its tables in Postgres, and that it accepts a job. Creates no tables. */
export function checkQueueOf({ backend, pool }: Pick<Ferry, 'backend' | 'pool'>): Promise<Finding> {
  const checked = async () =>
    checkQueue({ ...backend, installation: (await findInstallation(pool))?.id ?? null })
  return checked().then(ok, notMade)
}

/** Checks Redis while the database, which holds the installation's id, cannot be reached. */
export function checkRedisAlone(redisUrl: string): Promise<Finding> {
  return checkQueue({ databaseUrl: '', redisUrl, installation: null }).then(ok, failed('queue'))
}

function ok(found: string): Finding {
  return { check: 'queue', status: 'ok', found }
}

/** A queue without tables is no fault: no worker has created it yet. */
function notMade(error: unknown): Finding {
  if (!(error instanceof QueueHasNoTables)) return failed('queue')(error)
  return {
    check: 'queue',
    status: 'warn',
    found: 'the queue is in Postgres and has no tables there yet',
    whatToDo: '`ferry migrate` creates them, and so does `ferry up` or a `ferry worker` when it starts.',
  }
}
