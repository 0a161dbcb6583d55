import type { Command } from 'commander'
import type { Check } from '#src/db/verify.ts'
import type { Ferry } from '#src/ferry.ts'
import { number } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import { type CommandContext, withKnownAccounts } from './command-context.ts'
import { EXIT, type ExitCode, gravest } from './exit.ts'
import { coloured, harmless, print, printJson, StatusLine } from './output.ts'

type Options = { json?: true }

/** People read this many of the rows that break one promise; `--json` prints all. */
const MAX_NAMED = 20

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description(
      'check that the stored data keeps every promise, and name the rows that do not; run it after a restore',
    )
    .option('--json', 'print one JSON object per check, and before it one per row that breaks the promise')
    .action(({ json }: Options) =>
      withKnownAccounts('read', (ferry, context) => verifyAll(ferry, context, json ?? false)),
    )
}

/** Runs one check after another. Each reads an instant of its own, so work under way breaks none of them. */
async function verifyAll(ferry: Ferry, { signal }: CommandContext, json: boolean): Promise<ExitCode> {
  const { allChecks } = await import('./verify/checks.ts')
  const checks = allChecks(limitsOf(ferry))
  const width = Math.max(...checks.map(({ name }) => name.length)) + 2
  const codes: ExitCode[] = []
  const waiting = new StatusLine()
  for (const [index, check] of checks.entries()) {
    signal.throwIfAborted()
    waiting.show(`… ${index + 1} of ${checks.length}: ${check.name}`)
    const startedAtMs = performance.now()
    const broken = await runCheck(ferry, check, json ? printBroken : printer(waiting, width))
    const tookMs = Math.round(performance.now() - startedAtMs)
    waiting.clear()
    printResult(check, broken, tookMs, { json, width })
    codes.push(broken === 0 ? EXIT.done : EXIT.failed)
  }
  return gravest(codes)
}

/** The windows of each account's operations. Accounts may share a limit. */
function limitsOf({ accounts, limitOf, limits }: Ferry) {
  const operations = [...new Set(limits.map(({ operation }) => operation))]
  return [...accounts.keys()].flatMap(account =>
    operations.map(operation => ({ account, operation, windows: limitOf(account, operation).windows })),
  )
}

type Broken = { readonly check: Check; readonly found: string; readonly nth: number }

async function runCheck({ pool }: Ferry, check: Check, onBroken: (broken: Broken) => void): Promise<number> {
  const { verify } = await import('#src/db/verify.ts')
  let nth = 0
  return verify(pool, check, found => onBroken({ check, found, nth: ++nth }))
}

function printBroken({ check: { name, whatToDo }, found }: Broken): void {
  printJson({ check: name, status: 'broken', found, whatToDo })
}

/** Prints the first rows that break a promise, each with its table, then what to do about them. */
function printer(waiting: StatusLine, width: number) {
  return ({ check: { name, whatToDo }, found, nth }: Broken) => {
    if (nth > MAX_NAMED) return
    waiting.clear()
    print(`${coloured('red', 'FAIL')}  ${name.padEnd(width)}${harmless(found)}`)
    if (nth === 1) print(`${' '.repeat(6 + width)}${whatToDo}`)
  }
}

function printResult(
  { name, holds }: Check,
  broken: number,
  tookMs: number,
  { json, width }: { readonly json: boolean; readonly width: number },
): void {
  if (json)
    printJson({ check: name, status: broken === 0 ? 'ok' : 'broken', holds, broken, durationMs: tookMs })
  else if (broken === 0)
    print(`${coloured('green', 'ok  ')}  ${name.padEnd(width)}${holds} (${duration(tookMs)})`)
  else if (broken > MAX_NAMED) {
    print(`${' '.repeat(6 + width)}${number(broken)} rows in all; --json names every one of them`)
  }
}
