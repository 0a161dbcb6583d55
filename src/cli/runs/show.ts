import type { Pool } from 'pg'
import { cellsOf } from '#src/db/list.ts'
import type { Ferry } from '#src/ferry.ts'
import { type HeldRow, listHeldRows } from '#src/inventory/holds/list-holds.ts'
import { type CallRow, loadRun, type RunDetails } from '#src/inventory/runs/list-runs.ts'
import {
  NEW_FIELDS,
  NEW_VALUES,
  NO_ANSWER,
  NO_LONGER_STORED,
  nextOfHold,
  nextOfRun,
  noCallOf,
  QUARANTINED_ROWS,
} from '#src/inventory/runs/next-steps.ts'
import { RUN_LIST } from '#src/inventory/runs/runs-list.ts'
import { counted } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import type { Inventory } from '#src/model/resource.ts'
import { isConfigured } from '../accounts.ts'
import { UsageError } from '../errors.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { printOne } from '../list-command.ts'
import { tellMore } from '../listing.ts'
import { emphasised, fits, harmless, instant, print, printJson, printTable } from '../output.ts'

type Options = { json?: true; all?: true }

/** Prints everything known about one run. */
export async function showRun(
  { pool, config }: Pick<Ferry, 'pool' | 'config'>,
  id: bigint,
  options: Options,
): Promise<ExitCode> {
  const found = await findRun(pool, id)
  const { run, quarantined, drift, newValues, hold, calls } = found
  const held = hold ? await loadHeld(pool, run, hold.ids) : []
  if (options.json) {
    const { ids: heldIds = [], added: heldLater = [], lastRun: heldByRun = null } = hold ?? {}
    const more = { drift, newValues, heldIds, heldLater, heldByRun, calls, held }
    printJson({ ...run, quarantinedRows: quarantined, ...more })
  } else printRun(found, held, isConfigured(config, run.account), options)
  return EXIT.done
}

function printRun(
  { run, quarantined, drift, newValues, hold, calls, standing }: RunDetails,
  held: readonly Held[],
  isHere: boolean,
  options: Options,
): void {
  printOne(cellsOf(RUN_LIST.columns, run))
  if (run.message !== null) print(`\n${harmless(run.message)}`)
  if (hold) {
    printHeld(run.run, hold, held, nextOfHold(hold.lastRun, run.account, isHere, 'shown'), options)
  } else {
    const next = nextOfRun(run, standing, isHere)
    if (next !== '') print(`\n${next}`)
  }
  if (run.quarantined > 0) {
    print(`\n${emphasised(QUARANTINED_ROWS)}`)
    printTable(
      ['position', 'id', 'reason'],
      quarantined.map(row => [row.position, row.id, row.reason]),
      NO_LONGER_STORED,
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
  if (newValues.length > 0) {
    print(`\n${emphasised(NEW_VALUES)}`)
    printTable(
      ['field', 'value'],
      newValues.map(({ field, value }) => [field, value]),
      '',
    )
  }
  print(`\n${emphasised('Calls')}`)
  printCalls(calls, noCallOf(run.requests))
}

/** Returns everything known about one run. Throws `UsageError` for an unknown id. */
export async function findRun(pool: Pool, id: bigint): Promise<RunDetails> {
  const found = await loadRun(pool, id)
  if (!found) throw new UsageError(`there is no run ${id}; \`ferry runs list\` shows them`)
  return found
}

/** If the table is too wide, error and request_id share a column, so that no id is broken across lines. */
export function printCalls(calls: readonly CallRow[], none: string): void {
  const head = ['operation', 'started', 'took', 'HTTP']
  const cells = (call: CallRow) => [
    call.operation,
    instant(call.started),
    call.finished === null ? NO_ANSWER : duration(call.finished.getTime() - call.started.getTime()),
    call.httpStatus,
  ]
  const wide = [...head, 'error', 'request_id']
  const rows = calls.map(call => [...cells(call), call.errorCode, call.requestId])
  if (fits(wide, rows)) {
    printTable(wide, rows, none)
    return
  }
  const narrow = calls.map(call => [
    ...cells(call),
    [call.errorCode, call.requestId].filter(Boolean).join(' '),
  ])
  printTable([...head, 'error, request_id'], narrow, none)
}

type Held = Pick<HeldRow, 'id' | 'name' | 'folder' | 'by'>

/** The rows of a hold, by name. */
async function loadHeld(pool: Pool, run: Inventory, ids: readonly string[]): Promise<Held[]> {
  const rows = await listHeldRows(pool, run, ids)
  const byName = new Intl.Collator('en').compare
  return rows
    .map(({ id, name, folder, by }) => ({ id, name, folder, by }))
    .sort((a, b) => byName(a.name ?? '', b.name ?? ''))
}

/** Held rows that fit on a screen. */
const HELD_SHOWN = 20

/**
 * Prints the rows that the hold of a run has now, and how they are decided about. Those that the run did not hold come first.
 */
export function printHeld(
  run: bigint,
  { ids, lastRun, added }: NonNullable<RunDetails['hold']>,
  held: readonly Held[],
  decision: string,
  options: { all?: true },
): void {
  const seen = ids.length - added.length
  const rows = lastRun === run ? `${ids.length}` : `${ids.length} now, as run ${lastRun} found them`
  print(`\n${emphasised('Removals held')}: ${rows}. ${decision}`)
  if (added.length > 0) {
    const only =
      seen === 0
        ? ''
        : ` \`ferry runs approve ${run}\` and \`reject ${run}\` are about the ${counted(seen, 'other')}.`
    print(`Run ${run} did not hold ${added.length} of them.${only}`)
  }
  const later = new Set(added)
  const sorted = [...held.filter(row => later.has(row.id)), ...held.filter(row => !later.has(row.id))]
  const shown = options.all ? sorted : sorted.slice(0, HELD_SHOWN)
  const head = ['id', 'name', 'folder', 'updated by']
  if (added.length > 0) head.push('held')
  printTable(
    head,
    shown.map(({ id, name, folder, by }) => {
      const cells = [id, name, folder, by]
      return added.length > 0 ? [...cells, later.has(id) ? `after run ${run}` : ''] : cells
    }),
    '',
  )
  tellMore(held.length - shown.length)
}
