/** How long each kind of row is kept, in milliseconds; null: for ever. */
export type Retention = {
  /** Ended versions and firings, and the snapshots of that time. */
  readonly versionsMs: number | null
  readonly callsMs: number | null
  /** Runs that changed nothing. */
  readonly runsMs: number | null
  /** Quarantined rows that are not listed any more. Those of a run go with it, too. */
  readonly quarantineMs: number | null
  /** Addresses and raw rows of imports that have ended. */
  readonly recipientsMs: number | null
  /** Events that are over. */
  readonly notificationsMs: number | null
}
