import { type BackendSettings, checkQueue, migrateQueue } from '#src/queue/backend.ts'
import { type Finding, failed } from './finding.ts'

/** On Redis: its version, and that it never evicts; in Postgres: its tables. */
export async function checkQueueOf(backend: BackendSettings): Promise<Finding> {
  const checked = migrateQueue(backend).then(() => checkQueue(backend))
  return checked.then(found => ({ check: 'queue', status: 'ok', found }), failed('queue'))
}
