import type { HeldRow, RunDetails } from '#src/inventory/list-runs.ts'
import { tellMore } from '../listing.ts'
import { emphasised, print, printTable } from '../output.ts'

/** Held rows that fit on a screen. */
const HELD_SHOWN = 20

/**
 * Prints the rows that the hold of a run has now. Those that the run did not hold come first, those whose removal was
 * rejected before come last.
 */
export function printHeld(
  run: bigint,
  { ids, lastRun, added }: NonNullable<RunDetails['hold']>,
  held: readonly HeldRow[],
  options: { all?: true },
): void {
  const rows = lastRun === run ? `${ids.length}` : `${ids.length} now, as run ${lastRun} found them`
  const decided = added.length > 0 ? lastRun : run
  print(
    `\n${emphasised('Removals held')}: ${rows}. \`ferry runs approve ${decided}\` removes them. \`ferry runs reject ${decided}\` keeps them.`,
  )
  if (added.length > 0) {
    print(`Run ${run} did not hold ${added.length} of them. So they are decided about with run ${lastRun}.`)
  }
  const before = held.filter(row => row.rejectedInRun !== null)
  if (before.length > 0) {
    print(
      `The removal of ${before.length} of them was rejected before. If you approve, these are removed too.`,
    )
  }
  const later = new Set(added)
  const rest = held.filter(row => row.rejectedInRun === null)
  const sorted = [
    ...rest.filter(row => later.has(row.id)),
    ...rest.filter(row => !later.has(row.id)),
    ...before,
  ]
  const shown = options.all ? sorted : sorted.slice(0, HELD_SHOWN)
  const head = ['id', 'name', 'folder', 'updated by']
  if (added.length > 0) head.push('held')
  if (before.length > 0) head.push('rejected before')
  printTable(
    head,
    shown.map(({ id, name, folder, by, rejectedInRun }) => {
      const cells = [id, name, folder, by]
      if (added.length > 0) cells.push(later.has(id) ? `after run ${run}` : '')
      if (before.length > 0) cells.push(rejectedInRun === null ? '' : `in run ${rejectedInRun}`)
      return cells
    }),
    '',
  )
  tellMore(held.length - shown.length)
}
