import type { Command } from 'commander'
import type { Ferry } from '#src/ferry.ts'
import type { ScheduleKey, ScheduleRow } from '#src/queue/schedules.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { duration, print, printJson, printTable } from './output.ts'
import { accountsOf, withAccounts } from './session.ts'

type Options = { account?: string; json?: true }

export function addSchedules(program: Command): void {
  const schedules = program.command('schedules').description('what Ferry does by itself, and when')
  schedules
    .command('list')
    .description('each schedule of each account, with its next time')
    .option('--json', 'print one JSON object per schedule')
    .action((options: Options) => withAccounts('read', ferry => list(ferry, options)))

  const each = (verb: string, description: string, act: Act, done: string) =>
    schedules
      .command(verb)
      .description(description)
      .argument('<name>', 'the name of the schedule')
      .option('--account <name>', 'only for this account (default: every account)')
      .option('--json', 'print one JSON object per schedule')
      .action((name: string, options: Options) =>
        withAccounts('create', async (ferry, session) => {
          if (options.account !== undefined) accountsOf(session.config, options.account)
          const keys = await act(ferry, name, options.account)
          for (const key of keys) {
            if (options.json) printJson(key)
            else print(`${key.schedule} (${inWords(key.account)}): ${done}`)
          }
          return EXIT.done
        }),
      )
  each(
    'run',
    'have a worker do it now',
    runNow,
    'a worker that is up does it now; if none is, the next one that starts',
  )
  each('pause', 'do it no more until it is resumed', pause, 'paused')
  each('resume', 'do it again at its times', resume, 'resumed')
}

type Act = (ferry: Ferry, name: string, account: string | undefined) => Promise<ScheduleKey[]>

async function list(ferry: Ferry, options: Options): Promise<ExitCode> {
  const schedules = await schedulesOf(ferry)
  if (options.json) schedules.forEach(printJson)
  else printSchedules(schedules)
  return EXIT.done
}

export async function schedulesOf(ferry: Ferry): Promise<ScheduleRow[]> {
  const { listSchedules } = await import('#src/queue/schedules.ts')
  const { JOBS } = await import('#jobs/index.ts')
  return listSchedules(ferry, JOBS)
}

export function printSchedules(schedules: readonly ScheduleRow[]): void {
  const rows = schedules.map(one => [
    one.name,
    inWords(one.account),
    one.everyMs === null ? `${one.cron} ${one.timezone}` : `every ${duration(one.everyMs)}`,
    one.paused ? 'paused' : one.nextAt,
    one.lastSlot,
    one.lastOutcome,
  ])
  printTable(['schedule', 'account', 'when', 'next', 'last', 'came to'], rows, 'There is none.')
}

function inWords(account: string): string {
  return account === '*' ? 'all' : account
}

async function runNow(ferry: Ferry, name: string, account: string | undefined): Promise<ScheduleKey[]> {
  const { runSchedule } = await import('#src/queue/schedules.ts')
  const { JOBS } = await import('#jobs/index.ts')
  const { openQueueToEnqueue } = await import('./queue.ts')
  return runSchedule(ferry, await openQueueToEnqueue(ferry), JOBS, name, account)
}

async function pause(ferry: Ferry, name: string, account: string | undefined): Promise<ScheduleKey[]> {
  const { pauseSchedule } = await import('#src/queue/schedules.ts')
  const { JOBS } = await import('#jobs/index.ts')
  return pauseSchedule(ferry, JOBS, name, account)
}

async function resume(ferry: Ferry, name: string, account: string | undefined): Promise<ScheduleKey[]> {
  const { resumeSchedule } = await import('#src/queue/schedules.ts')
  const { JOBS } = await import('#jobs/index.ts')
  return resumeSchedule(ferry, JOBS, name, account)
}
