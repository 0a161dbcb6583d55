import { hostname, userInfo } from 'node:os'
import { type Command, Option } from 'commander'
import type { Pool } from 'pg'
import { RESOURCES } from '#src/model/resource.ts'
import { RUN_STATUSES } from '#src/model/run.ts'
import type { CallRow, HeldRow, RunDetails, RunRow } from '#src/store/run-reports.ts'
import { countArgument, idArgument, instantArgument } from './arguments.ts'
import { UsageError } from './errors.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { tellMore } from './listing.ts'
import {
  cellText,
  counted,
  duration,
  emphasised,
  fits,
  harmless,
  instant,
  print,
  printAside,
  printJson,
  printTable,
} from './output.ts'
import { expectAccount, withAccounts, withFerry } from './session.ts'

type Options = { json?: true; all?: true }
type ListOptions = Options & {
  limit: number
  account?: string
  inventory?: string
  status?: string
  since?: Date
}

export function addRuns(program: Command): void {
  const runs = program.command('runs').description('what was synced, and what came of it')
  runs
    .command('list')
    .description('the newest runs first')
    .option('--account <name>', 'only this account')
    .addOption(new Option('--inventory <name>', 'only this inventory').choices(RESOURCES))
    .addOption(new Option('--status <status>', 'only runs that ended so').choices(RUN_STATUSES))
    .option('--since <when>', 'only runs that began since: 24h, 7d or 2026-11-01', instantArgument)
    .option('--limit <n>', 'how many', countArgument, 20)
    .option('--json', 'print one JSON object per run')
    .action((options: ListOptions) =>
      withFerry('read', async ferry => {
        await expectAccount(ferry, options.account)
        return await list(ferry.pool, options)
      }),
    )
  runs
    .command('show')
    .description('one run: its counts, calls, rows set aside, removals held')
    .argument('<id>', 'the number of the run', idArgument)
    .option('--all', 'show all rows whose removal it holds')
    .option('--json', 'print one JSON object')
    .action((id: bigint, options: Options) => withFerry('read', ferry => show(ferry.pool, id, options)))
  runs
    .command('approve')
    .description('remove what a held run would have removed, if it is still gone')
    .argument('<id>', 'the number of the held run', idArgument)
    .option('--json', 'print one JSON object, that of the run this sets off')
    .action((id: bigint, options: Options) =>
      withAccounts('read', async (ferry, { signal }) => {
        const { approveRun } = await import('#src/inventory/approve.ts')
        const { exitCodeOf, explainRun, printJsonRun, printRuns } = await import('./run-result.ts')
        await findRun(ferry.pool, id)
        const result = await approveRun(ferry, id, signal)
        if (options.json) printJsonRun(result)
        else printRuns([result])
        explainRun(result)
        return exitCodeOf(ferry.pool, result)
      }),
    )
  runs
    .command('reject')
    .description('say that what a held run would have removed is not gone: it is kept')
    .argument('<id>', 'the number of the held run', idArgument)
    .option('--json', 'print one JSON object')
    .action((id: bigint, options: Options) =>
      withFerry('read', async ferry => {
        const { rejectRun } = await import('#src/inventory/approve.ts')
        await findRun(ferry.pool, id)
        const kept = await rejectRun(ferry, id, whoDecides())
        if (options.json) printJson({ run: id, outcome: 'rejected', kept })
        else {
          print(`The hold of run ${id} is ended: ${counted(kept, 'row')} stay as they were.`)
          print('They are kept until the platform lists them again. If they turn out to be gone after all,')
          print('`ferry sync` with --accept-removals removes them.')
        }
        return EXIT.done
      }),
    )
}

/** Who sits here, for the record of a decision. */
function whoDecides(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // A container may run as a number that has no name.
    return `uid ${process.getuid?.()}@${hostname()}`
  }
}

async function list(pool: Pool, options: ListOptions): Promise<ExitCode> {
  const { listRuns } = await import('#src/store/run-reports.ts')
  const runs = await listRuns(pool, options.limit, { ...options, resource: options.inventory })
  if (options.json) runs.map(jsonOf).forEach(printJson)
  else printList(runs, noneOf(options))
  return EXIT.done
}

function printList(runs: readonly RunRow[], none: string): void {
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

/** What fits into 80 columns, mostly. */
const NARROW = ['run', 'account', 'inventory', 'status', 'started', 'seen', 'removed']

function noneOf({ account, inventory, status, since }: ListOptions): string {
  const narrowed = [account, inventory, status, since].some(filter => filter !== undefined)
  return narrowed ? 'No run is like that.' : 'No run yet. `ferry sync all` makes the first.'
}

async function findRun(pool: Pool, id: bigint): Promise<RunDetails> {
  const { loadRun } = await import('#src/store/run-reports.ts')
  const found = await loadRun(pool, id)
  if (!found) throw new UsageError(`there is no run ${id}; \`ferry runs list\` shows them`)
  return found
}

async function show(pool: Pool, id: bigint, options: Options): Promise<ExitCode> {
  const found = await findRun(pool, id)
  const { loadHeldRows } = await import('#src/store/run-reports.ts')
  const held = found.heldIds.length === 0 ? [] : await loadHeldRows(pool, found.run, found.heldIds)
  if (options.json) printJson({ ...jsonOf(found.run), ...detailsOf(found), held })
  else printRun(found, held, options)
  return EXIT.done
}

export const RUN_HEAD = [
  'run',
  'account',
  'inventory',
  'trigger',
  'status',
  'started',
  'took',
  'seen',
  'added',
].concat(['changed', 'removed', 'quarantined', 'calls', 'error'])

export function cellsOf(run: RunRow) {
  const took = run.finished_at === null ? '' : duration(run.finished_at.getTime() - run.started_at.getTime())
  const counts = [run.seen, run.added, run.changed, run.removed, run.quarantined, run.requests]
  const told = [BigInt(run.id), run.account, run.resource, run.trigger, run.status, run.started_at, took]
  return [...told, ...counts, run.error_code]
}

function jsonOf(run: RunRow) {
  const { id, started_at, finished_at, error_code, request_id, ...rest } = run
  return {
    run: id,
    ...rest,
    startedAt: started_at,
    finishedAt: finished_at,
    errorCode: error_code,
    requestId: request_id,
  }
}

function detailsOf({ quarantined, drift, heldIds, calls }: RunDetails) {
  return {
    quarantinedRows: quarantined,
    drift,
    heldIds,
    calls: calls.map(({ http_status, error_code, request_id, ...call }) => ({
      ...call,
      httpStatus: http_status,
      errorCode: error_code,
      requestId: request_id,
    })),
  }
}

/** Held rows that fit a screen. */
const HELD_SHOWN = 20

/** Those of which nobody has said before that they are not gone come first. */
function printHeld(run: string, count: number, held: readonly HeldRow[], options: Options): void {
  print(
    `\n${emphasised('Removals held')}: ${count}. \`ferry runs approve ${run}\` removes them. \`ferry runs reject ${run}\` keeps them.`,
  )
  const before = held.filter(row => row.rejectedInRun !== null)
  if (before.length > 0) {
    print(
      `Of ${before.length} of them a person has said before that they are not gone. To approve removes these too.`,
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

function printRun(
  { run, quarantined, drift, heldIds, calls }: RunDetails,
  held: readonly HeldRow[],
  options: Options,
): void {
  printCounts(run)
  if (run.message !== null) print(`\n${harmless(run.message)}`)
  if (heldIds.length > 0) {
    printHeld(run.id, heldIds.length, held, options)
  }
  if (quarantined.length > 0) {
    print(`\n${emphasised('Rows set aside')}`)
    printTable(
      ['position', 'id', 'reason'],
      quarantined.map(row => [row.position, row.id, row.reason]),
      '',
    )
  }
  if (drift.length > 0) {
    print(`\n${emphasised('Fields outside the contract, first seen in this run')}`)
    printTable(
      ['field', 'type'],
      drift.map(field => [field.field, field.type]),
      '',
    )
  }
  print(`\n${emphasised('Calls')}`)
  printCalls(calls)
}

/** In one row, or where that is too wide, in one column. */
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

/** Where that is too wide, an error stands above the request_id: an id that is broken cannot be looked for. */
function printCalls(calls: readonly CallRow[]): void {
  const about = (call: CallRow) => [
    call.operation,
    instant(call.started),
    call.finished === null ? 'no answer' : duration(call.finished.getTime() - call.started.getTime()),
    call.http_status,
  ]
  const head = ['operation', 'started', 'took', 'HTTP']
  const none = 'None was made.'
  const rows = calls.map(call => [...about(call), call.error_code, call.request_id])
  const wide = [...head, 'error', 'request_id']
  if (fits(wide, rows)) {
    printTable(wide, rows, none)
    return
  }
  const narrow = calls.map(call => [
    ...about(call),
    [call.error_code, call.request_id].filter(Boolean).join(' '),
  ])
  printTable([...head, 'error, request_id'], narrow, none)
}
