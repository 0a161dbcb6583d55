import { z } from 'zod'
import { Int8 } from '#src/db/rows.ts'
import { EVERY_FOLDER } from '#src/inventory/scope.ts'
import { type NextStep, stepsInWords } from '#src/model/next-step.ts'
import type { Inventory } from '#src/model/resource.ts'
import type { RunStatus } from '#src/model/run.ts'

/** What decides, beside its status, what a person may do about a run that has no open hold. */
export const RunStanding = z.object({
  /** The folders it listed, as text; null where the inventory has none. */
  folders: z.array(z.string()).nullable(),
  /** The first run after it that applied a complete listing. */
  completeSince: Int8.nullable(),
  /** Whether somebody is working on it. */
  isUnderWay: z.boolean(),
})
export type RunStanding = Readonly<z.infer<typeof RunStanding>>

/**
 * Says what a person may do about a run that did not apply all of a listing, and whether anything has to be done at all. The
 * command line and the console say these. Empty if the run succeeded, is under way or was skipped.
 */
export function nextOfRun(
  run: Inventory & { readonly status: RunStatus },
  { folders, completeSince, isUnderWay }: RunStanding,
  isConfigured: boolean,
): string {
  switch (run.status) {
    case 'running':
      if (isUnderWay) return ''
      return (
        'Its worker is gone, or stands still. A live worker marks the run as failed, within a minute, and ' +
        'reads the inventory again if it has the account: `ferry worker` starts one.'
      )
    case 'succeeded':
    case 'skipped':
      return ''
    case 'held':
      return (
        'Its hold has ended: somebody decided, or a later run found the rows again or looked at other folders. ' +
        'What waits for a decision, `ferry doctor` says.'
      )
    case 'failed':
    case 'partial':
      return completeSince === null
        ? whereConfigured(run.account, isConfigured, syncAgain(run, folders))
        : `Run ${completeSince} has listed the inventory completely since: nothing is left to do.`
  }
}

/** Says by which commands a person decides about the removals that a run holds. What is gone can be looked for only where the account is. */
export function nextOfHold(
  run: bigint | string,
  account: string,
  isConfigured: boolean,
  are: 'shown' | 'not shown',
): string {
  const show = { command: `ferry runs show ${run}`, does: 'lists them' }
  const approve = { command: `ferry runs approve ${run}`, does: 'removes them' }
  const reject = { command: `ferry runs reject ${run}`, does: 'keeps them' }
  const first = are === 'shown' ? [] : [show]
  if (isConfigured) return stepsInWords([...first, approve, reject])
  return `${stepsInWords([...first, reject])} ${whereConfigured(account, isConfigured, approve)}`
}

/** A step that needs the key of an account. */
function whereConfigured(account: string, isConfigured: boolean, step: NextStep): string {
  if (isConfigured) return stepsInWords([step])
  return `Account ${account} is not in the settings here: \`${step.command}\` ${step.does} where it is.`
}

function syncAgain({ account, resource }: Inventory, folders: RunStanding['folders']): NextStep {
  const named = (folders ?? []).filter(folder => folder !== `${EVERY_FOLDER}`)
  const options = [`--account ${account}`, ...named.map(folder => `--folder ${folder}`)]
  return { command: `ferry sync ${resource} ${options.join(' ')}`, does: 'tries again now' }
}

/*
 * What the command line and the console say of runs.
 */

export const QUARANTINED_ROWS = 'Quarantined rows'
export const NO_LONGER_STORED = 'They are no longer stored: quarantined rows are pruned.'
export const NEW_FIELDS = 'Fields outside the contract, first seen in this run'
export const NEW_VALUES = 'Values that a field never had before this run'

/** Instead of the calls of a run that made this many, where none is in the call log. */
export function noCallOf(requests: number): string {
  return requests === 0
    ? 'The run made no call.'
    : 'Its calls are not in the call log any more: they were removed for their age (FERRY_KEEP_CALLS).'
}

/** Of a call. */
export const NO_ANSWER = 'no answer'
