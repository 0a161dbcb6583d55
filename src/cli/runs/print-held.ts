import type { HeldRow } from '#src/inventory/list-runs.ts'
import { tellMore } from '../listing.ts'
import { emphasised, print, printTable } from '../output.ts'

/** Held rows that fit on a screen. */
const HELD_SHOWN = 20

/** Prints the rows whose removal a run holds. Those whose removal was rejected before come last. */
export function printHeld(
  run: bigint,
  count: number,
  held: readonly HeldRow[],
  options: { all?: true },
): void {
  print(
    `\n${emphasised('Removals held')}: ${count}. \`ferry runs approve ${run}\` removes them. \`ferry runs reject ${run}\` keeps them.`,
  )
  const before = held.filter(row => row.rejectedInRun !== null)
  if (before.length > 0) {
    print(
      `The removal of ${before.length} of them was rejected before. If you approve, these are removed too.`,
    )
  }
  const sorted = [...held.filter(row => row.rejectedInRun === null), ...before]
  const shown = options.all ? sorted : sorted.slice(0, HELD_SHOWN)
  const head = ['id', 'name', 'folder', 'updated by']
  printTable(
    before.length > 0 ? [...head, 'rejected before'] : head,
    shown.map(({ id, name, folder, by, rejectedInRun }) => {
      const cells = [id, name, folder, by]
      return before.length > 0 ? [...cells, rejectedInRun === null ? '' : `in run ${rejectedInRun}`] : cells
    }),
    '',
  )
  tellMore(held.length - shown.length)
}
