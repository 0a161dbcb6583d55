import type { Command } from 'commander'
import type { Config } from '#src/config.ts'
import type { Ferry } from '#src/ferry.ts'
import type { ActedBy } from '#src/model/act.ts'
import { duration } from '#src/model/duration.ts'
import type { Schedule, ScheduleKey } from '#src/schedules/definition.ts'
import type { ScheduleRow } from '#src/schedules/list-schedules.ts'
import { accountsOf } from './accounts.ts'
import { type ActOptions, actedBy, addActOptions } from './acted-by.ts'
import { withAccounts } from './command-context.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { print, printJson, printTable } from './output.ts'

type Options = ActOptions & { account?: string; json?: true }

export function addSchedules(program: Command): void {
  const schedules = program.command('schedules').description('what runs on a schedule, and when')
  schedules
    .command('list')
    .description('every schedule of every account, with its next run')
    .option('--json', 'print one JSON object per schedule')
    .action((options: Options) => withAccounts('read', ferry => list(ferry, options)))

  const each = (verb: string, description: string, act: Act, done: string) => {
    const command = schedules
      .command(verb)
      .description(description)
      .argument('<name>', 'the name of the schedule')
      .option('--account <name>', 'only for this account (default: every account)')
    addActOptions(command)
      .option('--json', 'print one JSON object per schedule')
      .action((name: string, options: Options) =>
        withAccounts('create', async (ferry, context) => {
          await expectAccount(ferry, context.config, name, options.account)
          const keys = await act(ferry, name, options.account, actedBy(options))
          for (const key of keys) {
            if (options.json) printJson(key)
            else
              print(
                `${key.schedule} (${inWords(key.account)}): ${key.wasPaused === false ? NOT_PAUSED : done}`,
              )
          }
          return EXIT.done
        }),
      )
  }
  each(
    'run',
    'ask a worker to run it now',
    runNow,
    'a running worker does it now; if none is running, the next one that starts',
  )
  each('pause', 'stop running it until it is resumed', pause, 'paused')
  each('resume', 'run it on schedule again', resume, 'resumed')
}

/** What is paused may be resumed without the settings of its account. */
async function expectAccount(
  { pool }: Ferry,
  config: Config,
  name: string,
  account: string | undefined,
): Promise<void> {
  if (account === undefined) return
  const { listPausedAccounts } = await import('#src/schedules/control.ts')
  if (!(await listPausedAccounts(pool, name)).includes(account)) accountsOf(config, account)
}

type Act = (ferry: Ferry, name: string, account: string | undefined, by: ActedBy) => Promise<Acted[]>

/** A schedule that was acted on. `wasPaused` is set when it was resumed. */
type Acted = ScheduleKey & { readonly wasPaused?: boolean }

const NOT_PAUSED = 'it was not paused; it runs on schedule'

async function list(ferry: Ferry, options: Options): Promise<ExitCode> {
  const schedules = await loadSchedules(ferry)
  if (options.json) schedules.forEach(printJson)
  else printSchedules(schedules)
  return EXIT.done
}

export async function loadSchedules(ferry: Ferry): Promise<ScheduleRow[]> {
  const { listSchedules } = await import('#src/schedules/list-schedules.ts')
  return listSchedules(ferry.pool, await schedulesIn(ferry))
}

/** Those of the accounts in the settings, and of the one that is named. */
async function schedulesIn(ferry: Ferry, account?: string): Promise<Schedule[]> {
  const { defineSchedules } = await import('#jobs/schedules.ts')
  const { schedulesOf } = await import('#src/schedules/definition.ts')
  const accounts = new Set([...ferry.accounts.keys(), ...(account === undefined ? [] : [account])])
  return schedulesOf(defineSchedules(ferry), accounts)
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
  printTable(['schedule', 'account', 'when', 'next', 'last', 'result'], rows, 'No schedules.')
}

function inWords(account: string): string {
  return account === '*' ? 'all' : account
}

async function runNow(
  ferry: Ferry,
  name: string,
  account: string | undefined,
  by: ActedBy,
): Promise<ScheduleKey[]> {
  const { runSchedule } = await import('#src/worker/wake-ups.ts')
  const { openQueue } = await import('./queue.ts')
  return runSchedule(ferry, await openQueue(ferry), await schedulesIn(ferry), { name, account }, by)
}

async function pause(
  ferry: Ferry,
  name: string,
  account: string | undefined,
  by: ActedBy,
): Promise<ScheduleKey[]> {
  const { pauseSchedule } = await import('#src/schedules/control.ts')
  return pauseSchedule(ferry.pool, await schedulesIn(ferry), name, account, by)
}

async function resume(
  ferry: Ferry,
  name: string,
  account: string | undefined,
  by: ActedBy,
): Promise<Acted[]> {
  const { resumeSchedule } = await import('#src/schedules/control.ts')
  return resumeSchedule(ferry.pool, await schedulesIn(ferry, account), name, account, by)
}
