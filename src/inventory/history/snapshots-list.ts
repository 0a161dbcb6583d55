import { ACCOUNT_OF_PAGE, idAfter, list, partOf } from '#src/db/list.ts'
import { SNAPSHOT_STATUSES } from '#src/inventory/states.ts'
import type { PagedSnapshot } from './snapshot-page.ts'

/** Every snapshot with its two runs, the newest first. */
export const SNAPSHOT_LIST = list({
  caption: 'Nights, and snapshots taken by hand',
  filters: {
    account: { ...ACCOUNT_OF_PAGE, max: 200 },
    status: { kind: 'choice', values: SNAPSHOT_STATUSES, label: 'Status' },
  },
  order: ['id'],
  async load(pool, { filter, after, limit }) {
    const { loadSnapshotPage } = await import('./snapshot-page.ts')
    const found = await loadSnapshotPage(pool, filter, idAfter(after) ?? null, limit + 1)
    return partOf(found, limit, ({ id }) => [id])
  },
  columns: (row: PagedSnapshot) => ({
    snapshot: BigInt(row.id),
    account: row.account,
    status: row.status,
    taken: row.takenAt,
    'night of': row.slot,
  }),
  none: 'No snapshot yet. `ferry snapshots take` takes one.',
  noneMatches: 'No snapshot matches.',
  json: ({ id, account, takenAt, status, slot, alertRulesRun, mcpServersRun }) => ({
    snapshot: id,
    account,
    takenAt,
    status,
    slot,
    runs: [alertRulesRun, mcpServersRun],
  }),
})
