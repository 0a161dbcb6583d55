import type { Pool } from 'pg'
import * as ledger from '#src/inventory/list-runs.ts'
import { noRuns } from '#src/inventory/run-words.ts'
import type { Resource } from '#src/model/resource.ts'
import type { RunStatus } from '#src/model/run.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { fits, printAside, printJson, printTable } from '../output.ts'
import { cellsOf, RUN_HEAD } from './table.ts'

export type RunListOptions = {
  json?: true
  limit: number
  account?: string
  inventory?: Resource
  status?: RunStatus
  since?: Date
}

/** Prints the newest runs. */
export async function listRuns(pool: Pool, options: RunListOptions): Promise<ExitCode> {
  const { account, inventory: resource, status, since } = options
  const filter = { account, resource, status, since }
  const runs = await ledger.listRuns(pool, options.limit, filter)
  if (options.json) runs.forEach(printJson)
  else printList(runs, noRuns(filter))
  return EXIT.done
}

function printList(runs: readonly ledger.RunRow[], none: string): void {
  const cells = runs.map(cellsOf)
  if (fits(RUN_HEAD, cells)) {
    printTable(RUN_HEAD, cells, none)
    return
  }
  const kept = NARROW.map(name => RUN_HEAD.indexOf(name))
  printTable(
    NARROW,
    cells.map(row => kept.map(column => row[column] ?? null)),
    none,
  )
  printAside('ferry: a wider terminal or --json shows more of each run')
}

/** The columns that fit into 80 characters, mostly. */
const NARROW = ['run', 'account', 'inventory', 'status', 'started', 'seen', 'removed']
