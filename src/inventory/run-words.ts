import type { RunFilter } from './list-runs.ts'

/*
 * What the command line and the console say of runs.
 */

export const QUARANTINED_ROWS = 'Quarantined rows'
export const NEW_FIELDS = 'Fields outside the contract, first seen in this run'
export const NO_CALL = 'The run made no call.'
/** Of a call. */
export const NO_ANSWER = 'no answer'

/** What stands in place of a list of runs that has none. */
export function noRuns({ account, resource, status, since, until }: RunFilter): string {
  const isNarrowed = [account, resource, status, since, until].some(filter => filter !== undefined)
  return isNarrowed ? 'No run matches.' : 'No run yet. `ferry sync all` starts the first one.'
}
