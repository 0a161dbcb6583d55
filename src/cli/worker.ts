import type { Command } from 'commander'
import { needAccounts } from './accounts.ts'
import { serve } from './service.ts'
import { startWorker } from './start-worker.ts'

export function addWorker(program: Command): void {
  program
    .command('worker')
    .description('do what is due until SIGTERM; any number of workers, on any number of machines')
    .option('--json', 'print one JSON object once it is ready')
    .action((options: { json?: true }) =>
      serve(async (context, opened) => {
        const config = await needAccounts(context.config)
        return startWorker({ ...context, config }, opened, options)
      }),
    )
}
