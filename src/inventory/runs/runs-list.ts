import { ACCOUNT, idAfter, lasting, list, partOf, sinceAndUntil } from '#src/db/list.ts'
import { RESOURCES } from '#src/model/resource.ts'
import { RUN_STATUSES } from '#src/model/run.ts'
import type { ReadableRun } from './list-runs.ts'

/** Every run, the newest first, as the role that only reads may see it. */
export const RUN_LIST = list({
  caption: 'Runs, the newest first',
  filters: {
    account: ACCOUNT,
    inventory: {
      kind: 'choice',
      values: RESOURCES,
      any: 'both',
      label: 'Inventory',
      option: ['--inventory <name>', 'only this inventory'],
    },
    status: {
      kind: 'choice',
      values: RUN_STATUSES,
      label: 'Status',
      option: ['--status <status>', 'only runs with this status'],
    },
    ...sinceAndUntil('only runs that started since: 24h, 7d or 2026-11-01'),
  },
  order: ['id'],
  async load(pool, { filter: { inventory: resource, ...filter }, after, limit }) {
    const { listReadableRuns } = await import('./list-runs.ts')
    const runs = await listReadableRuns(pool, limit + 1, { ...filter, resource, before: idAfter(after) })
    return partOf(runs, limit, ({ run }) => [`${run}`])
  },
  columns: (row: ReadableRun) => ({
    run: row.run,
    account: row.account,
    inventory: row.resource,
    trigger: row.trigger,
    status: row.status,
    started: row.startedAt,
    took: lasting(row.startedAt, row.finishedAt),
    seen: row.seen,
    added: row.added,
    changed: row.changed,
    removed: row.removed,
    quarantined: row.quarantined,
    calls: row.requests,
    error: row.errorCode,
  }),
  none: 'No run yet. `ferry sync all` starts the first one.',
  noneMatches: 'No run matches.',
})
