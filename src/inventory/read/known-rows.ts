import type { Scope } from '#src/inventory/scope.ts'
import type { Inventory } from '#src/model/resource.ts'
import type { ListedRows } from './listed-rows.ts'

/** Names the run that was applied last: two databases may give one id to two runs. */
export type AppliedRun = { readonly id: bigint; readonly appliedAt: string }

/**
 * What this process knows of the rows that it applied last, for some inventories. It makes runs faster, and they are right
 * without it.
 */
export type KnownRows = {
  /**
   * Takes what is known of an inventory, if `last` is the run that was applied last and it left it so. The caller keeps it
   * again once it knows what it holds.
   */
  take(inventory: Inventory, scope: Scope, last: AppliedRun | null): ListedRows | null
  keep(inventory: Inventory, scope: Scope, last: AppliedRun, rows: ListedRows): void
}

type Kept = { readonly of: string; readonly rows: ListedRows }

/**
 * Keeps at most `maxRows` rows; the inventories that were not synced for longest are forgotten first. One that has more rows
 * than that is not kept, and costs the others nothing.
 */
export function createKnownRows(maxRows: number): KnownRows {
  const kept = new Map<string, Kept>()
  const keyOf = ({ account, resource }: Inventory) => `${resource} ${account}`
  const identityOf = (scope: Scope, last: AppliedRun) => JSON.stringify([scope, `${last.id}`, last.appliedAt])

  return {
    take(inventory, scope, last) {
      const key = keyOf(inventory)
      const found = kept.get(key)
      kept.delete(key)
      return found && last && found.of === identityOf(scope, last) ? found.rows : null
    },
    keep(inventory, scope, last, rows) {
      if (rows.size > maxRows) return
      kept.set(keyOf(inventory), { of: identityOf(scope, last), rows })
      let size = 0
      for (const { rows } of kept.values()) size += rows.size
      for (const [key, { rows }] of kept) {
        if (size <= maxRows) break
        kept.delete(key)
        size -= rows.size
      }
    },
  }
}
