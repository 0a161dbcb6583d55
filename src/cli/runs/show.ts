import type { Pool } from 'pg'
import { type HeldRow, loadHeldRows, type RunDetails, type RunRow } from '#src/inventory/list-runs.ts'
import { nextOfRun } from '#src/inventory/next-steps.ts'
import { NEW_FIELDS, QUARANTINED_ROWS } from '#src/inventory/run-words.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { cellText, emphasised, fits, harmless, print, printJson, printTable } from '../output.ts'
import { findRun } from './find.ts'
import { printCalls } from './print-calls.ts'
import { printHeld } from './print-held.ts'
import { cellsOf, RUN_HEAD } from './table.ts'

type Options = { json?: true; all?: true }

/** Prints one run with everything known of it. */
export async function showRun(pool: Pool, id: bigint, options: Options): Promise<ExitCode> {
  const found = await findRun(pool, id)
  const { run, quarantined, drift, hold, calls } = found
  const held = hold ? await loadHeldRows(pool, run, hold.ids) : []
  if (options.json) {
    const { ids: heldIds = [], added: heldLater = [], lastRun: heldByRun = null } = hold ?? {}
    printJson({ ...run, quarantinedRows: quarantined, drift, heldIds, heldLater, heldByRun, calls, held })
  } else printRun(found, held, options)
  return EXIT.done
}

function printRun(
  { run, quarantined, drift, hold, calls, folders, completeSince }: RunDetails,
  held: readonly HeldRow[],
  options: Options,
): void {
  printCounts(run)
  if (run.message !== null) print(`\n${harmless(run.message)}`)
  if (hold) printHeld(run.run, hold, held, options)
  else {
    const next = nextOfRun({ ...run, folders, completeSince })
    if (next !== '') print(`\n${next}`)
  }
  if (quarantined.length > 0) {
    print(`\n${emphasised(QUARANTINED_ROWS)}`)
    printTable(
      ['position', 'id', 'reason'],
      quarantined.map(row => [row.position, row.id, row.reason]),
      '',
    )
  }
  if (drift.length > 0) {
    print(`\n${emphasised(NEW_FIELDS)}`)
    printTable(
      ['field', 'type'],
      drift.map(field => [field.field, field.type]),
      '',
    )
  }
  print(`\n${emphasised('Calls')}`)
  printCalls(calls)
}

/** In one row, or in one column if the row is too wide. */
function printCounts(run: RunRow): void {
  const cells = cellsOf(run)
  if (fits(RUN_HEAD, [cells])) {
    printTable(RUN_HEAD, [cells], '')
    return
  }
  const width = Math.max(...RUN_HEAD.map(name => name.length))
  for (const [index, name] of RUN_HEAD.entries()) {
    print(`${name.padEnd(width)}  ${cellText(cells[index] ?? null)}`.trimEnd())
  }
}
