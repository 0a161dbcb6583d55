import type { Inventory } from '#src/model/resource.ts'

/** The name of the lease under which an inventory is synced: one run at a time. */
export function leaseNameOf({ account, resource }: Inventory): string {
  return `sync:${account}:${resource}`
}
