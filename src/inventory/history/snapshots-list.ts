import type { Pool } from 'pg'
import { ACCOUNT_OF_PAGE, type Columns, idAfter, list, partOf } from '#src/db/list.ts'
import { SNAPSHOT_STATUSES } from '#src/inventory/states.ts'
import { firstReadInWords } from './changes-list.ts'
import { differencesOf, fieldsFrom } from './differences.ts'
import type { Pair, SnapshotDifference } from './snapshot-diff.ts'

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
  columns: {
    snapshot: row => BigInt(row.id),
    account: row => row.account,
    status: row => row.status,
    taken: row => row.takenAt,
    'night of': row => row.slot,
  },
  none: 'There is no snapshot. `ferry snapshots take` takes one.',
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

/** What differs between two snapshots. With `isGrouped`, what a first reading found is one row. */
export const DIFFERENCE_LIST = {
  async *stream(pool: Pool, asked: Pair & { readonly isGrouped: boolean }, limit: number | null) {
    yield* (await import('./snapshot-diff.ts')).listDifferences(pool, asked, limit, asked)
  },
  count: async (pool: Pool, pair: Pair) => (await import('./snapshot-diff.ts')).countDifferences(pool, pair),
  columns: {
    inventory: row => row.resource,
    change: row => row.change,
    id: row => row.id,
    name: row => (row.rows === null ? row.name : firstReadInWords(row.resource, row.account, row.rows)),
    // A server has a team, not a folder.
    folder: row => (row.resource === 'alert-rules' ? row.folder : null),
    what: row => differencesOf(fieldsFrom(row.before), fieldsFrom(row.after)),
    by: row => row.by,
  } as const satisfies Columns<SnapshotDifference, string>,
  json({ account: _, rows: __, change, before, after, ...row }: SnapshotDifference) {
    const firstReading = change === 'first reading'
    return {
      ...row,
      change: firstReading ? 'added' : change,
      firstReading,
      before: fieldsFrom(before),
      after: fieldsFrom(after),
    }
  },
  none: 'The two snapshots are the same.',
}
