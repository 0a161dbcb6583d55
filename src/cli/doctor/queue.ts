import { type BackendSettings, checkQueue, QueueHasNoTables } from '#src/queue/backend.ts'
import { type Finding, failed } from './finding.ts'

/** On Redis: its version, and that it never evicts; in Postgres: its tables. Makes none. */
export function checkQueueOf(backend: BackendSettings): Promise<Finding> {
  return checkQueue(backend).then(found => ({ check: 'queue', status: 'ok', found }), notMade)
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
