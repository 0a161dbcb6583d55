import type { Command } from 'commander'
import { findAccounts, HOW_TO_CONFIGURE } from './accounts.ts'
import { type CommandContext, runOneShot } from './command-context.ts'
import { type Finding, failed, orFailed } from './doctor/finding.ts'
import { EXIT, type ExitCode, gravest } from './exit.ts'
import { coloured, harmless, print, printJson } from './output.ts'

type Options = { json?: true }

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check configuration, database, queue and platform, and print what to do')
    .option('--json', 'print one JSON object per check')
    .action((options: Options) => runOneShot(context => examine(options, context)))
}

/** Prints each finding as it is made. */
async function examine(options: Options, context: CommandContext): Promise<ExitCode> {
  const codes: ExitCode[] = []
  for await (const { exit, ...finding } of findings(context)) {
    if (options.json) printJson(finding)
    else printFinding(finding)
    if (finding.status === 'fail') codes.push(exit ?? EXIT.failed)
  }
  return gravest(codes)
}

/** Checks configuration, database, queue and platform in this order: each needs those before it. */
async function* findings(context: CommandContext): AsyncGenerator<Finding> {
  const config = await findAccounts(context.config)
  const names = config.accounts.map(account => account.name)
  yield names.length > 0
    ? {
        check: 'configuration',
        status: 'ok',
        found: `every setting is valid; accounts: ${names.join(', ')}`,
      }
    : {
        check: 'configuration',
        status: 'fail',
        found: HOW_TO_CONFIGURE.found,
        whatToDo: HOW_TO_CONFIGURE.whatToDo,
        exit: EXIT.usage,
      }

  const { openFerry } = await import('#src/ferry.ts')
  const { databaseFindings } = await import('./doctor/database.ts')
  const { checkClock } = await import('./doctor/clock.ts')
  const { checkQueueOf, checkRedisAlone } = await import('./doctor/queue.ts')
  const { checkNotifications } = await import('./doctor/notifications.ts')
  const { platformFindings } = await import('./doctor/platform.ts')
  await using opened = new AsyncDisposableStack()
  const ferry = await openFerry(config, { ...context, schema: 'read' }).then(
    ferry => opened.use(ferry),
    failed('postgres'),
  )
  if ('status' in ferry) {
    yield ferry
    // Redis can be checked without Postgres.
    const { redisUrl } = config
    if (redisUrl !== null) yield await checkRedisAlone(redisUrl)
    return
  }
  yield* databaseFindings(ferry)
  yield await checkClock(ferry.pool).catch(failed('clock'))
  yield await checkQueueOf(ferry)
  const notifications = await checkNotifications(ferry).catch(failed('notifications'))
  if (notifications) yield notifications
  yield* orFailed('platform', platformFindings(ferry, context.signal))
}

const SIGN = {
  ok: coloured('green', 'ok  '),
  warn: coloured('yellow', 'warn'),
  fail: coloured('red', 'FAIL'),
}

function printFinding({ check, status, found, whatToDo }: Finding): void {
  print(`${SIGN[status]}  ${check.padEnd(14)}${harmless(found)}`)
  if (whatToDo !== undefined) print(`${' '.repeat(20)}${harmless(whatToDo)}`)
}
