import type { Command } from 'commander'
import { serve } from './service.ts'
import { needAccounts } from './session.ts'
import { openWorking } from './working.ts'

export function addWorker(program: Command): void {
  program
    .command('worker')
    .description('work on schedules until SIGTERM; any number of them, on any number of machines')
    .option('--json', 'print one JSON object once it works')
    .action((options: { json?: true }) =>
      serve(async (session, opened) => {
        const config = await needAccounts(session.config)
        await openWorking({ ...session, config }, opened, options)
      }),
    )
}
