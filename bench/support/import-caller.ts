import { pino } from 'pino'
import { readConfig } from '#src/config.ts'
import { openFerry } from '#src/ferry.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { importOnce } from '#test/support/import-once.ts'

/*
 * Run by `throttle.ts` as a process: imports one subscriber over and over, as fast as the throttle lets it, with two
 * calls under way, until it is killed. Its argument is its settings.
 */

process.on('disconnect', () => process.exit())
const signal = new AbortController().signal
const settings = JSON.parse(process.argv[2] ?? '{}')
const ferry = await openFerry(readConfig(settings), { log: pino({ level: 'silent' }), signal })
const client = ferry.accounts.get('default')?.client
if (!client) throw new Error('there is no account')
const caller = { client, throttle: ferry.throttle }
const batch = {
  page_id: SANDBOX_PAGE_ID,
  method: 'email',
  subscribers: [{ recipient: 'a@example.com', all: true as const, locale: 'en-US' }],
}
process.send?.('ready')
await Promise.all([1, 2].map(callForEver))

async function callForEver(): Promise<never> {
  for (;;) await importOnce(caller, batch, { signal })
}
