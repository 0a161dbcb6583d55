/** How complete a snapshot is: the worse status of its two runs. */
export const SNAPSHOT_STATUSES = ['succeeded', 'partial', 'held'] as const
export type SnapshotStatus = (typeof SNAPSHOT_STATUSES)[number]

/**
 * How a hold of removals ended: a person approved the removals, a later complete listing made the hold void, or a person
 * said that the rows are not gone.
 */
export const HOLD_OUTCOMES = ['approved', 'voided', 'rejected'] as const
export type HoldOutcome = (typeof HOLD_OUTCOMES)[number]

/**
 * How a row appeared that had no current version, if nobody is known to have added it then: its folder was listed
 * completely for the first time, or the platform's own time does not say that it was created since the listing before.
 */
export const APPEARANCES = ['first reading', 'unexplained'] as const
export type Appearance = (typeof APPEARANCES)[number]
