import { type Command, Option } from 'commander'
import type { ActFilter, ActRow } from '#src/db/audit.ts'
import { ACTIONS } from '#src/model/act.ts'
import { expectAccount } from './accounts.ts'
import { instantArgument, limitArgument } from './arguments.ts'
import { withFerry } from './command-context.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { printJson, printTable } from './output.ts'

type Options = ActFilter & { as?: string; limit: number; json?: true }

export function addAudit(program: Command): void {
  program
    .command('audit')
    .description('what people did by hand, and why; the newest first')
    .option('--account <name>', 'only this account')
    .option('--as <name>', 'only what this person did')
    .addOption(new Option('--action <action>', 'only this action').choices(ACTIONS))
    .option('--since <when>', 'only since: 24h, 7d or 2026-11-01', instantArgument)
    .option('--limit <n>', 'how many', limitArgument, 20)
    .option('--json', 'print one JSON object per act')
    .action((options: Options) =>
      withFerry('read', async ferry => {
        await expectAccount(ferry, options.account)
        const { listActs, noActs } = await import('#src/db/audit.ts')
        const { account, as: actor, action, since } = options
        const filter = { account, actor, action, since }
        const acts = await listActs(ferry.pool, options.limit, filter)
        return print(acts, noActs(filter), options)
      }),
    )
}

function print(acts: readonly ActRow[], none: string, options: Options): ExitCode {
  if (options.json) acts.forEach(printJson)
  else {
    const head = ['when', 'who', 'did', 'to', 'account', 'because']
    const rows = acts.map(act => [
      act.at,
      act.actor,
      act.action,
      `${act.subjectKind} ${act.subject}`,
      act.account,
      act.because,
    ])
    printTable(head, rows, none)
  }
  return EXIT.done
}
