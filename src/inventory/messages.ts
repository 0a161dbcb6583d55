import type { Removals } from '#src/inventory/publish/decide.ts'
import { counted, isOrAre } from '#src/model/counted.ts'
import { WORKER_LOST_CODE } from '#src/model/run.ts'

/*
 * The sentences with which runs end: what happened, what it means, what to do. They are stored in the ledger and shown
 * by the command line, the log and the console.
 */

export const WORKER_LOST = {
  errorCode: WORKER_LOST_CODE,
  message:
    'worker lost: it died, or it was suspended for longer than its lease; nothing of this run was applied',
}

export const LEASE_LOST = 'this worker was suspended for longer than its lease, so its work was not applied'

export function timedOutAfter(minutes: number): string {
  return `the run took longer than ${counted(minutes, 'minute')}; nothing was applied`
}

export const INTERRUPTED = 'the run was interrupted; nothing was applied'

/** Why a second row with an id is not applied. */
export const REPEATED = 'a row with the same id came before it'
export const REPEATED_IN_FOLDER = 'the same id came in the listing of another folder; that row is used'

export const HOLD_ENDED =
  'the removals were approved, but somebody decided otherwise before they were applied; nothing was applied'

export const INSTANT_PASSED = 'a snapshot was taken while this run was being written, so it was not applied'

export const UNREADABLE_ID = 'a row came whose id cannot be read'

export const KEY_CHANGED =
  'the app_key was replaced while this was listed, and another key may see other rows'

export function skippedFor(holder: string): string {
  return `${holder} was syncing this inventory; see \`ferry runs list\``
}

/** What a run that was applied says of the rows that were not listed; null if it removed them all. */
export function messageOn(removals: Removals, runId: bigint): string | null {
  switch (removals.kind) {
    case 'remove':
      return null
    case 'keep':
      return keptInWords(removals)
    case 'partial':
      return `${removals.why}; nothing was removed.`
    case 'hold':
      return (
        `${whyHeld(removals)}; nothing was removed. See \`ferry runs show ${runId}\`, then ` +
        `\`ferry runs approve ${runId}\` or \`ferry runs reject ${runId}\`.`
      )
  }
}

const IN_NEW_SCOPE =
  'the first run in a new scope removes nothing, nor does one while runs with another key or other settings come in between'

function keptInWords({ absent, because }: Extract<Removals, { kind: 'keep' }>): string {
  switch (because) {
    case 'rejected':
      return `${rowsAre(absent)} not listed and kept, because their removal was rejected; \`--accept-removals\` would remove them.`
    case 'new scope':
      return `${counted(absent, 'row stored before was', 'rows stored before were')} not listed; ${IN_NEW_SCOPE}.`
    case 'held in another scope':
      return `${rowsAre(absent)} not listed and kept, because they were held with another key or other settings, which may see more. The next sync looks again, and holds what is gone.`
  }
}

/** What an approval says of rows that only later runs held. */
export function leftHeld(rows: number, lastRun: bigint): string {
  return `${counted(rows, 'row that only later runs hold stays', 'rows that only later runs hold stay')} held: \`ferry runs show ${lastRun}\` shows them.`
}

/** What a preview says of the rows that were not listed, if a second listing agreed. */
export function noteOn(removals: Removals): string {
  switch (removals.kind) {
    case 'remove':
      return 'the removals need a second listing that agrees'
    case 'keep':
      return removals.because === 'rejected'
        ? 'the rows that are not listed would be kept, because their removal was rejected'
        : IN_NEW_SCOPE
    case 'partial':
      return `${removals.why}: nothing would be removed`
    case 'hold':
      return 'the removals would be held for a person'
  }
}

/** Why rows that were not listed stay: the second listing did not confirm that they are gone. */
export function notConfirmed(absent: number, refusal: string | null): string {
  const reason =
    refusal === null ? 'the second listing was not complete' : `the second listing failed: ${refusal}`
  return `${counted(absent, 'row was', 'rows were')} not listed, but ${reason}`
}

/** Null if every row that could not be read is stored. */
export function notStored(quarantined: number, stored: number): string | null {
  return stored < quarantined
    ? `Of ${counted(quarantined, 'row')} that could not be read, ${counted(stored, 'is', 'are')} stored.`
    : null
}

function whyHeld({ ids, current, rejected }: Extract<Removals, { kind: 'hold' }>): string {
  if (rejected.length === 0)
    return `${ids.length} of ${counted(current, 'row')} ${isOrAre(ids.length)} gone from the listing`
  const runs = [...new Set(rejected)]
  return (
    `${ids.length} more of ${counted(current, 'row')} ${isOrAre(ids.length)} gone from the listing; ` +
    `${counted(rejected.length, 'other was', 'others were')} kept by a decision on run${runs.length === 1 ? '' : 's'} ${runs.join(', ')}`
  )
}

function rowsAre(count: number): string {
  return count === 1 ? 'one row is' : `${count} rows are`
}
