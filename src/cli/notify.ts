import type { Command } from 'commander'
import { countFrom } from './arguments.ts'
import { type OneShotContext, runOneShot, withFerry } from './command-context.ts'
import { UsageError } from './errors.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { printRows } from './list-command.ts'
import { harmless, print, printJson } from './output.ts'

export function addNotify(program: Command): void {
  const notify = program.command('notify').description('events, and the messages that were sent about them')
  notify
    .command('test')
    .description('send a test message to FERRY_WEBHOOK_URL now, and show the answer')
    .option('--json', 'print one JSON object')
    .action((options: { json?: true }) => runOneShot(context => test(context, options)))
  notify
    .command('list')
    .description('the latest events, and whether their messages were delivered')
    .option('--undelivered', 'only those whose message is waiting, or was not accepted within a day')
    .option('--limit <n>', 'rows to show', countFrom(1, 10_000), 50)
    .option('--json', 'print one JSON object per event')
    .action(list)
}

/** Tests only the way to the receiver, so it needs no database. */
async function test({ config, signal }: OneShotContext, options: { json?: true }): Promise<ExitCode> {
  const { notify, proxy } = config
  const { webhook } = notify
  if (webhook === null) {
    throw new UsageError(
      'no receiver is set. Set FERRY_WEBHOOK_URL to the address that events are posted to.',
    )
  }
  const { sendTest } = await import('#src/notify/deliver.ts')
  const { id, ...result } = await sendTest(notify, webhook, proxy, signal)
  const { format } = webhook
  const isSigned = format === 'standard' && webhook.key !== null
  if (options.json)
    printJson({
      id,
      delivered: result.ok,
      httpStatus: result.httpStatus,
      format,
      signed: isSigned,
      failure: result.ok ? null : result.why,
    })
  else if (result.ok) {
    print(`The receiver accepted the test message (HTTP ${result.httpStatus}).`)
    if (format === 'standard') {
      print(isSigned ? `Its id is ${id}.` : 'It was not signed: FERRY_WEBHOOK_SECRET is not set.')
    }
  } else print(`The receiver did not accept the test message: ${harmless(result.why)}.`)
  return result.ok ? EXIT.done : EXIT.failed
}

function list(options: { undelivered?: true; limit: number; json?: true }): Promise<void> {
  return withFerry('read', async ({ pool, config }) => {
    const { eventListOf } = await import('#src/notify/events-list.ts')
    const { listEvents } = await import('#src/notify/list-events.ts')
    const deliveries = options.undelivered ? (['waiting', 'dead'] as const) : undefined
    const rows = await listEvents(pool, options.limit, { deliveries, sentKinds: config.notify.kinds })
    const events = eventListOf(config.notify)
    printRows(events, rows, { json: options.json, none: events.none })
    return EXIT.done
  })
}
