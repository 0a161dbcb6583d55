import type { Command } from 'commander'
import type { Ferry } from '#src/ferry.ts'
import type { SnapshotDifference } from '#src/store/snapshots.ts'
import { countArgument, idArgument } from './arguments.ts'
import { EXIT, type ExitCode, gravest } from './exit.ts'
import { counted, print, printJson, printTable } from './output.ts'
import { accountsOf, type Session, withAccounts, withFerry } from './session.ts'

type Options = { account?: string; json?: true; limit: number }

export function addSnapshots(program: Command): void {
  const snapshots = program.command('snapshots').description('named instants of both inventories')
  snapshots
    .command('take')
    .description('sync both inventories and name the instant')
    .option('--account <name>', 'only this account (default: every account)')
    .option('--json', 'print one JSON object per account')
    .action((options: Options) => withAccounts('create', (ferry, session) => take(ferry, options, session)))
  snapshots
    .command('list')
    .description('the newest first')
    .option('--limit <n>', 'how many', countArgument, 20)
    .option('--json', 'print one JSON object per snapshot')
    .action((options: Options) => withFerry('read', ferry => list(ferry, options)))
  snapshots
    .command('diff')
    .description('what was added, changed and removed between two snapshots')
    .argument('<a>', 'the older snapshot', idArgument)
    .argument('<b>', 'the newer snapshot', idArgument)
    .option('--json', 'print one JSON object per difference')
    .action((a: bigint, b: bigint, options: Options) =>
      withFerry('read', async ferry => {
        const { diffSnapshots } = await import('#src/store/snapshots.ts')
        const differences = await diffSnapshots(ferry.pool, a, b)
        if (options.json) differences.forEach(printJson)
        else printDifferences(differences)
        return EXIT.done
      }),
    )
}

async function take(ferry: Ferry, options: Options, { config, signal }: Session): Promise<ExitCode> {
  const { takeSnapshot } = await import('#src/inventory/snapshots.ts')
  const { exitCodeOf, explainRun } = await import('./run-result.ts')
  const codes: ExitCode[] = []
  const taken = []
  for (const account of accountsOf(config, options.account)) {
    if (signal.aborted) break
    const { runs, ...result } = await takeSnapshot(
      ferry,
      { account: account.name, trigger: 'manual' },
      signal,
    )
    runs.forEach(explainRun)
    codes.push(...(await Promise.all(runs.map(run => exitCodeOf(ferry.pool, run)))))
    if (options.json) printJson({ ...result, runs: runs.map(run => run.run) })
    taken.push([result.snapshot, result.account, result.status, result.takenAt])
  }
  if (!options.json) printTable(['snapshot', 'account', 'status', 'taken'], taken, 'None was taken.')
  return gravest(codes)
}

async function list(ferry: Ferry, options: Options): Promise<ExitCode> {
  const { listSnapshots } = await import('#src/store/snapshots.ts')
  const snapshots = await listSnapshots(ferry.pool, options.limit)
  if (options.json) {
    for (const { id, account, status, taken_at, slot, alert_rules_run, mcp_servers_run } of snapshots) {
      const runs = [alert_rules_run, mcp_servers_run]
      printJson({ snapshot: id, account, takenAt: taken_at, status, slot, runs })
    }
    return EXIT.done
  }
  const rows = snapshots.map(one => [BigInt(one.id), one.account, one.status, one.taken_at, one.slot])
  printTable(
    ['snapshot', 'account', 'status', 'taken', 'night of'],
    rows,
    'None yet. `ferry snapshots take` takes one.',
  )
  return EXIT.done
}

export function printDifferences(differences: readonly SnapshotDifference[]): void {
  const rows = differences.map(one => [one.resource, one.change, one.id, one.name, one.fields.join(', ')])
  printTable(['inventory', 'change', 'id', 'name', 'fields'], rows, 'The two snapshots are the same.')
  if (differences.length > 0) print(`\n${counted(differences.length, 'difference')}.`)
}
