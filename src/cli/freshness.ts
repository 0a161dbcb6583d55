import type { Command } from 'commander'
import type { Ferry } from '#src/ferry.ts'
import { duration } from '#src/model/duration.ts'
import { RESOURCES } from '#src/model/resource.ts'
import type { Freshness } from '#src/reports/freshness.ts'
import { expectAccount } from './accounts.ts'
import { withKnownAccounts } from './command-context.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { printAside, printJson, printTable } from './output.ts'

type Options = { account?: string; json?: true }

const HEAD = ['account', 'inventory', 'last complete', 'age', 'target', 'state', 'why']

export function addFreshness(program: Command): void {
  program
    .command('freshness')
    .description(
      'how old each inventory is, and whether that is within its freshness target; exits 3 if one is late',
    )
    .option('--account <name>', 'only this account')
    .option('--json', 'print one JSON object per inventory')
    .action((options: Options) => withKnownAccounts('read', ferry => show(ferry, options)))
}

async function show(ferry: Ferry, { account, json }: Options): Promise<ExitCode> {
  await expectAccount(ferry, account)
  const { explainLateness, isLate, loadFreshness } = await import('#src/reports/freshness.ts')
  const read = await loadFreshness(ferry.pool, account ?? null)
  const known = [...read, ...neverRead(ferry, read, account)]
  const explained = known.map(row => ({ ...row, message: explainLateness(row) }))
  if (json) explained.forEach(printJson)
  else
    printTable(
      HEAD,
      explained.map(cellsOf),
      'Nothing has been synced yet. `ferry sync all` syncs both inventories.',
    )
  if (!json && known.some(({ state }) => state === 'no target')) {
    printAside(
      'ferry: no freshness target is set for some inventories: a worker that has their account sets it when it starts',
    )
  }
  return known.length === 0 || known.some(isLate) ? EXIT.partial : EXIT.done
}

/** Returns the inventories of configured accounts that are not among those that are `known`. */
export function neverRead(
  ferry: Pick<Ferry, 'accounts'>,
  known: readonly Freshness[],
  account?: string,
): Freshness[] {
  const isKnown = (name: string, inventory: string) =>
    known.some(row => row.account === name && row.inventory === inventory)
  return [...ferry.accounts.keys()]
    .filter(name => account === undefined || name === account)
    .flatMap(name =>
      RESOURCES.filter(inventory => !isKnown(name, inventory)).map(inventory => ({
        ...NOTHING_KNOWN,
        account: name,
        inventory,
      })),
    )
}

const NOTHING_KNOWN = {
  lastCompleteAt: null,
  lastCompleteRun: null,
  ageMs: null,
  targetMs: null,
  schedule: null,
  state: 'never',
  whyLate: 'no run',
  lastFailedRun: null,
  errorCode: null,
  requestId: null,
  isAbandoned: false,
  hasWorker: false,
  keySetting: null,
} as const

function cellsOf(row: Freshness & { readonly message: string | null }) {
  const { account, inventory, lastCompleteAt, ageMs, targetMs, state, message } = row
  const time = (ms: number | null) => (ms === null ? null : duration(ms))
  const age = ageMs !== null && ageMs < 0 ? `${duration(-ageMs)} in the future` : time(ageMs)
  return [account, inventory, lastCompleteAt, age, time(targetMs), state, message]
}
