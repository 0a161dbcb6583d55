import { type BackendSettings, checkQueue } from '#src/queue/backend.ts'
import { type Finding, failed } from './finding.ts'

/** On Redis: its version, and that it never evicts; in Postgres: its tables. */
export async function checkQueueOf(backend: BackendSettings): Promise<Finding> {
  return checkQueue(backend).then(found => ({ check: 'queue', status: 'ok', found }), failed('queue'))
}
