/** The rows of a hold, each with the run since which it has been held without a break. */
export type HeldSince = {
  readonly ids: readonly string[]
  /** In the order of the ids. Of another length if that is not known. */
  readonly sinceRuns: readonly bigint[]
  /** The last run that found the rows gone. */
  readonly lastRun: bigint
}

/** The run since which each row has been held; the last one if that is not known. */
export function sinceRunsOf({ ids, sinceRuns, lastRun }: HeldSince): ReadonlyMap<string, bigint> {
  const isKnown = sinceRuns.length === ids.length
  return new Map(ids.map((id, index) => [id, (isKnown ? sinceRuns[index] : undefined) ?? lastRun]))
}

/** The rows that are held now, and that run `runId` did not hold, as far as is known. */
export function addedAfter(runId: bigint, held: HeldSince): readonly string[] {
  return [...sinceRunsOf(held)].filter(([, since]) => since > runId).map(([id]) => id)
}
