import type { Command } from 'commander'
import { countFrom } from './arguments.ts'
import { type OneShotContext, runOneShot, withFerry } from './command-context.ts'
import { UsageError } from './errors.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { harmless, print, printJson, printTable } from './output.ts'

/** As many as fit on a screen or two. */
const SHOWN = 50

export function addNotify(program: Command): void {
  const notify = program.command('notify').description('the events that people are told of')
  notify
    .command('test')
    .description('send a test message to FERRY_WEBHOOK_URL now, and say what it answered')
    .option('--json', 'print one JSON object')
    .action((options: { json?: true }) => runOneShot(context => test(context, options)))
  notify
    .command('list')
    .description('the latest events, and what became of their messages')
    .option('--undelivered', 'only those that wait, or that no receiver accepted within a day')
    .option('--limit <n>', `how many at most (default: ${SHOWN})`, countFrom(1, 10_000))
    .option('--json', 'print one JSON object per event')
    .action(list)
}

/** Needs no database: what is tested is the way to the receiver. */
async function test({ config, signal }: OneShotContext, options: { json?: true }): Promise<ExitCode> {
  const { notify, proxy } = config
  const { webhook } = notify
  if (webhook === null) {
    throw new UsageError(
      'no receiver is set. Set FERRY_WEBHOOK_URL to the address that events are posted to.',
    )
  }
  const { sendTest } = await import('#src/notify/send-test.ts')
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

function list(options: { undelivered?: true; limit?: number; json?: true }): Promise<void> {
  return withFerry('read', async ({ pool, config }) => {
    const { deliveryInWords, listEvents } = await import('#src/notify/list-events.ts')
    const deliveries = options.undelivered ? (['waiting', 'dead'] as const) : undefined
    const rows = await listEvents(pool, options.limit ?? SHOWN, { deliveries, told: config.notify.kinds })
    if (options.json)
      rows.forEach(({ data, ...row }) => {
        printJson(row)
      })
    else {
      printTable(
        ['event', 'kind', 'state', 'account', 'about', 'at', 'message', 'attempts', 'failure'],
        rows.map(row => [
          row.event,
          row.kind,
          row.state,
          row.account,
          row.subject,
          row.at,
          deliveryInWords(row, config.notify.webhook !== null),
          row.attempts,
          row.failure,
        ]),
        'There is none.',
      )
    }
    return EXIT.done
  })
}
