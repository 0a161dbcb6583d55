/** If more than `rows` and more than `share` (0 to 1) of the rows in scope are gone at once, a person decides. */
export type RemovalGuard = { readonly rows: number; readonly share: number }

/** Whether a person must decide about the removal of `gone` of `current` rows: more than both bounds, or all of them. */
export function isSuspicious(gone: number, current: number, guard: RemovalGuard): boolean {
  return gone > 0 && (gone === current || gone > Math.max(guard.rows, exact(guard.share * current)))
}

/** The guard as one text, for the ledger: `10,20%`. */
export function describeGuard(guard: RemovalGuard): string {
  return `${guard.rows},${exact(guard.share * 100)}%`
}

/** Without what binary fractions add: 0.29 * 100 is a little less than 29. */
function exact(product: number): number {
  return Number(product.toFixed(6))
}
