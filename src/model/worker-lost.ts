/** The error code of work whose worker died, or could not reach Postgres for longer than its lease or claim: a run, a batch. */
export const WORKER_LOST_CODE = 'WorkerLost'
