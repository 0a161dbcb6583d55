import type { Command } from 'commander'
import { countUpTo, durationArgument } from './arguments.ts'
import { counted, print, printJson } from './output.ts'
import { serve } from './service.ts'

type Options = { port: number; rules: number; servers: number; latency: number; key?: string; json?: true }

export function addSandbox(program: Command): void {
  program
    .command('sandbox')
    .description('run the sandbox platform alone: a stand-in that speaks the contract, with made-up data')
    .option('--port <n>', 'where it listens on 127.0.0.1 (default: any free port)', countUpTo(65_535), 0)
    .option('--rules <n>', 'how many alert rules it has', countUpTo(200_000), 40)
    .option('--servers <n>', 'how many MCP servers it has', countUpTo(10_000), 25)
    .option('--latency <duration>', 'how long each answer takes', durationArgument, 0)
    .option('--key <app_key>', 'the app_key it accepts')
    .option('--json', 'print one JSON object once it listens')
    .action((options: Options) =>
      serve(async (_, opened) => {
        const { openSandbox } = await import('#src/sandbox/sandbox.ts')
        const { port, rules, servers, latency: answerMs, key } = options
        const sandbox = opened.use(
          await openSandbox({
            port,
            rules,
            servers,
            answerMs,
            ...(key === undefined ? {} : { appKey: key }),
          }),
        )
        const { baseUrl, appKey } = sandbox
        if (options.json) return printJson({ baseUrl, rules, servers })
        print(
          `The sandbox platform listens at ${baseUrl}: ${counted(rules, 'alert rule')}, ${counted(servers, 'MCP server')}, all made up.`,
        )
        // Its own key is in the source for all to read; one that was given is nobody else's business.
        print(`FERRY_BASE_URL=${baseUrl} FERRY_APP_KEY=${key === undefined ? appKey : '<the key you gave>'}`)
        print('Ctrl-C ends it.')
      }),
    )
}
