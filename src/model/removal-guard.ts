/** If more than `rows` and more than `share` (0 to 1) of the rows in scope are gone at once, a person decides. */
export type RemovalGuard = { readonly rows: number; readonly share: number }

/** Whether a person must decide about the removal of `gone` of `current` rows: more than both bounds, or all of them. */
export function isSuspicious(gone: number, current: number, guard: RemovalGuard): boolean {
  return gone > 0 && (gone === current || gone > Math.max(guard.rows, guard.share * current))
}

/** The guard as one text, for the ledger: `10,20%`. */
export function describeGuard(guard: RemovalGuard): string {
  return `${guard.rows},${guard.share * 100}%`
}
