import type { Command } from 'commander'
import type { Pool } from 'pg'
import type { Ferry } from '#src/ferry.ts'
import type { Pair } from '#src/inventory/history/snapshot-diff.ts'
import { DIFFERENCE_LIST, SNAPSHOT_LIST } from '#src/inventory/history/snapshots-list.ts'
import { counted } from '#src/model/counted.ts'
import { accountsOf, expectAccount } from './accounts.ts'
import { type ActOptions, actedBy, addActOptions } from './acted-by.ts'
import { idArgument } from './arguments.ts'
import { type CommandContext, withAccounts, withFerry } from './command-context.ts'
import { EXIT, type ExitCode, gravest } from './exit.ts'
import { noteHistoryStart } from './history-note.ts'
import { addList } from './list-command.ts'
import { addListOptions, type ListOptions, printList } from './listing.ts'
import { print, printAside, printJson, printTable } from './output.ts'

type Options = ActOptions & { account?: string; json?: true }

export function addSnapshots(program: Command): void {
  const snapshots = program.command('snapshots').description('named moments of both inventories')
  const taking = snapshots
    .command('take')
    .description('sync both inventories and name this moment')
    .option('--account <name>', 'only this account (default: every account)')
  addActOptions(taking)
    .option('--json', 'print one JSON object per account')
    .action((options: Options) => withAccounts('create', (ferry, context) => take(ferry, options, context)))
  addList(snapshots, 'list', 'every snapshot, newest first', SNAPSHOT_LIST, {
    row: 'snapshot',
    note: (_, pool) => noteHistoryStart(pool, undefined),
  })
  const diff = snapshots
    .command('diff')
    .description(
      'what was added, changed and removed between two snapshots; without numbers, between the last two',
    )
    .argument('[a]', 'the older snapshot', idArgument)
    .argument('[b]', 'the newer snapshot', idArgument)
    .option('--account <name>', 'the last two of this account')
  addListOptions(diff)
    .option('--json', 'print one JSON object per difference')
    .action((a: bigint | undefined, b: bigint | undefined, options: ListOptions & { account?: string }) => {
      if (a !== undefined && b === undefined)
        diff.error('error: one snapshot has nothing to be compared with; name two, or none')
      return withFerry('read', async ferry => {
        await expectAccount(ferry, options.account)
        const pair = await pairOf(ferry.pool, a, b, options.account ?? null)
        if (Date.parse(pair.a) > Date.parse(pair.b)) {
          printAside(
            `ferry: snapshot ${a} is later than snapshot ${b}: this looks back, so what was added is shown as removed.`,
          )
        }
        return printDiff(ferry.pool, pair, options)
      })
    })
}

async function take(ferry: Ferry, options: Options, { config, signal }: CommandContext): Promise<ExitCode> {
  const { takeSnapshot } = await import('#src/inventory/history/snapshots.ts')
  const { exitCodeOf, explainRun } = await import('./run-result.ts')
  const codes: ExitCode[] = []
  const taken = []
  for (const account of accountsOf(config, options.account)) {
    if (signal.aborted) break
    const { runs, ...result } = await takeSnapshot(
      ferry,
      { account: account.name, trigger: 'manual', by: actedBy(options) },
      signal,
    )
    runs.forEach(explainRun)
    codes.push(...(await Promise.all(runs.map(run => exitCodeOf(ferry.pool, run)))))
    if (options.json) printJson({ ...result, runs: runs.map(run => run.run) })
    taken.push([result.snapshot, result.account, result.status, result.takenAt])
  }
  if (!options.json) printTable(['snapshot', 'account', 'status', 'taken'], taken, 'No snapshot was taken.')
  return gravest(codes)
}

async function pairOf(
  pool: Pool,
  a: bigint | undefined,
  b: bigint | undefined,
  account: string | null,
): Promise<Pair> {
  const { findLastPair, findPair } = await import('#src/inventory/history/snapshot-diff.ts')
  return a === undefined || b === undefined ? findLastPair(pool, account) : findPair(pool, a, b, account)
}

/** Prints what differs between two snapshots. For people, what a first reading found is one row. */
export async function printDiff(pool: Pool, pair: Pair, options: ListOptions): Promise<ExitCode> {
  const asked = { ...pair, isGrouped: options.json !== true }
  await printList(pool, DIFFERENCE_LIST, asked, options)
  if (asked.isGrouped) {
    const total = await DIFFERENCE_LIST.count(pool, pair)
    if (total > 0) print(`\n${counted(total, 'difference')}.`)
  }
  return EXIT.done
}
