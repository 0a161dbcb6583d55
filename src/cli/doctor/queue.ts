import type { Ferry } from '#src/ferry.ts'
import { migrateQueue } from '#src/queue/backend.ts'
import { checkQueue } from '#src/queue/check.ts'
import { loadInstallation } from '#src/store/installation.ts'
import { type Finding, failed } from './finding.ts'

/** Its version and rules, its tables in Postgres, and that it takes a job. */
export function checkQueueOf({ backend, pool }: Pick<Ferry, 'backend' | 'pool'>): Promise<Finding> {
  const checked = async () => {
    await migrateQueue(backend)
    const { id } = await loadInstallation(pool)
    return checkQueue({ ...backend, installation: id })
  }
  return checked().then(ok, failed('queue'))
}

/** While the database is out of reach, whose installation's queue it is remains unknown. */
export function checkRedisAlone(redisUrl: string): Promise<Finding> {
  return checkQueue({ databaseUrl: '', redisUrl, installation: null }).then(ok, failed('queue'))
}

function ok(found: string): Finding {
  return { check: 'queue', status: 'ok', found }
}
