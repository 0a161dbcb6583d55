import { ACCOUNT, idAfter, lasting, list, partOf, sinceAndUntil } from '#src/db/list.ts'
import { RESOURCES } from '#src/model/resource.ts'
import { RUN_STATUSES } from '#src/model/run.ts'

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
  columns: {
    run: row => row.run,
    account: row => row.account,
    inventory: row => row.resource,
    trigger: row => row.trigger,
    status: row => row.status,
    started: row => row.startedAt,
    took: row => lasting(row.startedAt, row.finishedAt),
    seen: row => row.seen,
    added: row => row.added,
    changed: row => row.changed,
    removed: row => row.removed,
    quarantined: row => row.quarantined,
    calls: row => row.requests,
    error: row => row.errorCode,
  },
  none: 'No run yet. `ferry sync all` starts the first one.',
  noneMatches: 'No run matches.',
})
