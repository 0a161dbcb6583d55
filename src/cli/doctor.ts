import type { Command } from 'commander'
import type { Ferry } from '#src/ferry.ts'
import { findAccounts, HOW_TO_CONFIGURE } from './accounts.ts'
import { type CommandContext, runOneShot } from './command-context.ts'
import { ANSWER_WITHIN_MS, type Finding, failed, NoAnswer, orFailed } from './doctor/finding.ts'
import { EXIT, type ExitCode, gravest } from './exit.ts'
import { coloured, harmlessMessage, print, printJson, StatusLine } from './output.ts'

type Options = { json?: true }

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check configuration, database, work, queue and platform, and print what to do')
    .option('--json', 'print one JSON object per check')
    .action((options: Options) => runOneShot(context => examine(options, context)))
}

/** Prints each finding as it is made, and on a terminal what doctor is waiting for. */
async function examine(options: Options, context: CommandContext): Promise<ExitCode> {
  const codes: ExitCode[] = []
  const waiting = new StatusLine()
  for await (const { exit, isUnreachable, ...finding } of findings(context, what =>
    waiting.show(`… waiting for ${what}`),
  )) {
    waiting.clear()
    if (options.json) printJson(finding)
    else printFinding(finding)
    codes.push(exit ?? (finding.status === 'fail' ? EXIT.failed : EXIT.done))
  }
  waiting.clear()
  return gravest(codes)
}

type WaitFor = (what: string) => void

/** Checks configuration, database, work, queue and platform in this order: each needs those before it. */
async function* findings(context: CommandContext, waitFor: WaitFor): AsyncGenerator<Finding> {
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

  waitFor('the database')
  await using opened = new AsyncDisposableStack()
  const ferry = await openWithin({ ...context, config }).then(ferry => opened.use(ferry), failed('postgres'))
  if ('status' in ferry) yield ferry
  else {
    let isUnreachable = false
    for await (const finding of ferryFindings(ferry, context.signal, waitFor)) {
      yield finding
      isUnreachable ||= finding.isUnreachable ?? false
      if (isUnreachable) break
    }
    if (!isUnreachable) return
  }
  // Redis can be checked without Postgres.
  const { redisUrl, redisPassword } = config
  if (redisUrl === null) return
  waitFor('Redis')
  const { checkRedisAlone } = await import('./doctor/work.ts')
  yield await checkRedisAlone(redisUrl, redisPassword)
}

/**
 * Opens Ferry, but gives up on a database that does not answer. An embedded one may take as long as it needs: after a crash it
 * recovers first.
 */
async function openWithin({ config, ...context }: CommandContext): Promise<Ferry> {
  const { openFerry } = await import('#src/ferry.ts')
  const { databaseUrl } = config
  const timeUp = databaseUrl === null ? null : AbortSignal.timeout(ANSWER_WITHIN_MS)
  const signal = timeUp === null ? context.signal : AbortSignal.any([context.signal, timeUp])
  try {
    return await openFerry(config, {
      ...context,
      signal,
      schema: 'read',
      answerWithinMs: ANSWER_WITHIN_MS,
    })
  } catch (error) {
    if (databaseUrl === null || !timeUp?.aborted) throw error
    const { placeOf } = await import('#src/model/postgres-address.ts')
    throw new NoAnswer(
      `Postgres at ${placeOf(databaseUrl)} (DATABASE_URL)`,
      'Start it, or correct DATABASE_URL. A firewall or a failover may also be dropping connections.',
    )
  }
}

/** Yields what can be checked once the database answers. Each check runs whatever the others found. */
async function* ferryFindings(ferry: Ferry, signal: AbortSignal, waitFor: WaitFor): AsyncGenerator<Finding> {
  const { checkClock, databaseFindings } = await import('./doctor/database.ts')
  const { importFindings } = await import('./doctor/imports.ts')
  const work = await import('./doctor/work.ts')
  const { platformFindings } = await import('./doctor/platform.ts')
  yield* databaseFindings(ferry)
  yield* orFailed('imports', importFindings(ferry))
  yield* orFailed('inventories', work.inventoryFindings(ferry))
  yield* orFailed('schedules', work.scheduleFindings(ferry))
  yield* orFailed('workers', work.workerFindings(ferry))
  yield* orFailed('backfills', work.backfillFindings(ferry))
  yield await checkClock(ferry.pool).catch(failed('clock'))
  waitFor('the queue')
  yield await work.checkQueueOf(ferry)
  const notifications = await work.checkNotifications(ferry).catch(failed('notifications'))
  if (notifications) yield notifications
  yield* orFailed('platform', platformFindings(ferry, signal, waitFor))
}

const SIGN = {
  ok: coloured('green', 'ok  '),
  warn: coloured('yellow', 'warn'),
  fail: coloured('red', 'FAIL'),
}

function printFinding({ check, status, found, whatToDo }: Finding): void {
  const indent = ' '.repeat(20)
  const indented = (text: string) => harmlessMessage(text.trim()).replaceAll('\n', `\n${indent}`)
  print(`${SIGN[status]}  ${check.padEnd(14)}${indented(found)}`)
  if (whatToDo !== undefined) print(`${indent}${indented(whatToDo)}`)
}
