import type { RunRow } from '#src/inventory/list-runs.ts'
import { duration } from '../output.ts'

/** The columns of a table of runs, those of `cellsOf`. */
export const RUN_HEAD = [
  ...['run', 'account', 'inventory', 'trigger', 'status', 'started', 'took'],
  ...['seen', 'added', 'changed', 'removed', 'quarantined', 'calls', 'error'],
]

export function cellsOf(run: RunRow) {
  const took = run.finishedAt === null ? '' : duration(run.finishedAt.getTime() - run.startedAt.getTime())
  const counts = [run.seen, run.added, run.changed, run.removed, run.quarantined, run.requests]
  const identity = [run.run, run.account, run.resource, run.trigger, run.status, run.startedAt, took]
  return [...identity, ...counts, run.errorCode]
}
