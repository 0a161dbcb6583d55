import type { Ferry } from '#src/ferry.ts'
import { checkQueue } from '#src/queue/check.ts'
import { QueueHasNoTables } from '#src/queue/refused.ts'
import { findInstallation } from '#src/store/installation.ts'
import { type Finding, failed } from './finding.ts'

/** Its version and rules, its tables in Postgres, and that it takes a job. Makes no tables. */
export function checkQueueOf({ backend, pool }: Pick<Ferry, 'backend' | 'pool'>): Promise<Finding> {
  const checked = async () =>
    checkQueue({ ...backend, installation: (await findInstallation(pool))?.id ?? null })
  return checked().then(ok, notMade)
}

/** While the database is out of reach, whose installation's queue it is remains unknown. */
export function checkRedisAlone(redisUrl: string): Promise<Finding> {
  return checkQueue({ databaseUrl: '', redisUrl, installation: null }).then(ok, failed('queue'))
}

function ok(found: string): Finding {
  return { check: 'queue', status: 'ok', found }
}

/** Nothing is wrong with a queue that no worker has made yet. */
function notMade(error: unknown): Finding {
  if (!(error instanceof QueueHasNoTables)) return failed('queue')(error)
  return {
    check: 'queue',
    status: 'warn',
    found: 'the queue lives in Postgres and has no tables there yet',
    whatToDo: '`ferry migrate` makes them; so does `ferry up` or a `ferry worker` when it starts.',
  }
}
