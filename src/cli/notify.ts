import type { Command } from 'commander'
import { isNot } from '#src/model/did-you-mean.ts'
import type { Receiver } from '#src/model/settings.ts'
import type { TestResult } from '#src/notify/deliver.ts'
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
    .description('send a test message now, to one receiver or to all, and show the answer')
    .argument('[name]', 'the receiver: one of FERRY_RECEIVERS_FILE, or webhook for FERRY_WEBHOOK_URL')
    .option('--json', 'print one JSON object per receiver')
    .action((name: string | undefined, options: { json?: true }) =>
      runOneShot(context => test(context, name, options)),
    )
  notify
    .command('list')
    .description('the latest events, and whether their messages were delivered')
    .option('--undelivered', 'only those whose message is waiting, or was not accepted within a day')
    .option('--limit <n>', 'rows to show', countFrom(1, 10_000), 50)
    .option('--json', 'print one JSON object per event')
    .action(list)
}

/** Tests only the way to the receivers, so it needs no database. */
async function test(
  { config, signal }: OneShotContext,
  name: string | undefined,
  { json }: { json?: true },
): Promise<ExitCode> {
  const { notify, proxy } = config
  const { sendTest } = await import('#src/notify/deliver.ts')
  let isAccepted = true
  for (const receiver of receiversNamed(notify.receivers, name)) {
    const result = await sendTest(notify, receiver, proxy, signal)
    if (json) printJson(jsonOfTest(receiver, result))
    else printTest(receiver, result)
    isAccepted &&= result.ok
  }
  return isAccepted ? EXIT.done : EXIT.failed
}

function receiversNamed(receivers: readonly Receiver[], name: string | undefined): readonly Receiver[] {
  if (receivers.length === 0) {
    const none =
      name === undefined ? 'no receiver is set' : `no receiver is called ${harmless(name)}: none is set`
    throw new UsageError(
      `${none}. Set FERRY_WEBHOOK_URL to the address that events are posted to, or FERRY_RECEIVERS_FILE.`,
    )
  }
  const named = receivers.filter(receiver => name === undefined || receiver.name === name)
  if (named.length > 0) return named
  const names = receivers.map(receiver => receiver.name)
  throw new UsageError(`${JSON.stringify(name)} ${isNot('a receiver', name ?? '', names)}`)
}

function isSigned({ format, key }: Receiver): boolean {
  return format === 'standard' && key !== null
}

function jsonOfTest(receiver: Receiver, result: TestResult) {
  return {
    id: result.id,
    receiver: receiver.name,
    delivered: result.ok,
    httpStatus: result.httpStatus,
    format: receiver.format,
    signed: isSigned(receiver),
    failure: result.ok ? null : result.why,
  }
}

function printTest(receiver: Receiver, result: TestResult): void {
  if (!result.ok) {
    print(`${receiver.name}: the receiver did not accept the test message: ${harmless(result.why)}.`)
    return
  }
  print(`${receiver.name}: the receiver accepted the test message (HTTP ${result.httpStatus}).`)
  if (receiver.format === 'slack') return
  const howToSign =
    receiver.name === 'webhook'
      ? 'FERRY_WEBHOOK_SECRET is not set'
      : 'it has neither secretEnv nor secretFile'
  print(isSigned(receiver) ? `Its id is ${result.id}.` : `It was not signed: ${howToSign}.`)
}

function list(options: { undelivered?: true; limit: number; json?: true }): Promise<void> {
  return withFerry('read', async ({ pool, config }) => {
    const { eventListOf } = await import('#src/notify/events-list.ts')
    const { listEvents } = await import('#src/notify/list-events.ts')
    const deliveries = options.undelivered ? (['waiting', 'dead'] as const) : undefined
    const rows = await listEvents(pool, options.limit, { deliveries })
    const events = eventListOf(config.notify)
    printRows(events, rows, { json: options.json, none: events.none })
    return EXIT.done
  })
}
