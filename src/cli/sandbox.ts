import { type Command, Option } from 'commander'
import { counted } from '#src/model/counted.ts'
import type { FaultText } from '#src/sandbox/fault-text.ts'
import { countUpTo, durationArgument, everyArgument, keyArgument } from './arguments.ts'
import { UsageError } from './errors.ts'
import { print, printJson } from './output.ts'
import { serveUntilStopped } from './service.ts'

type Options = {
  port: number
  rules: number
  servers: number
  latency: number
  changeEvery?: number
  fault?: readonly string[]
  key?: string
  json?: true
}

export function addSandbox(program: Command): void {
  program
    .command('sandbox')
    .description('run only the sandbox: a fake platform with the same API and made-up data')
    .addOption(
      new Option('--port <n>', 'port on 127.0.0.1').default(0, 'any free port').argParser(countUpTo(65_535)),
    )
    .option('--rules <n>', 'how many alert rules it has', countUpTo(1_000_000), 40)
    .option('--servers <n>', 'how many MCP servers it has', countUpTo(10_000), 25)
    .option('--latency <duration>', 'how long each answer takes', durationArgument, 0)
    .option(
      '--change-every <duration>',
      'change something this often, as people do on a working day',
      everyArgument,
    )
    .option(
      '--fault <operation:when:what>',
      'make calls fail, such as import:every=10:500 (may be repeated; see docs/sandbox.md)',
      (text: string, earlier: readonly string[] = []) => [...earlier, text],
    )
    .option('--key <app_key>', 'the app_key it accepts', keyArgument)
    .option('--json', 'print one JSON object once it listens')
    .action((options: Options) => serveUntilStopped((_, opened) => open(options, opened)))
}

async function open(options: Options, opened: AsyncDisposableStack): Promise<void> {
  const { port, rules, servers, latency: answerMs, changeEvery, key } = options
  const faults = await faultsOf(options.fault ?? [])
  const { openSandbox } = await import('#src/sandbox/sandbox.ts')
  const { openChanges } = await import('#src/sandbox/sandbox.ts')
  const sandbox = opened.use(
    await openSandbox({ port, rules, servers, answerMs, ...(key === undefined ? {} : { appKey: key }) }),
  )
  for (const { fault, when } of faults) sandbox.state.inject(fault, when)
  if (changeEvery !== undefined) opened.use(openChanges(sandbox, changeEvery))

  const { baseUrl, appKey } = sandbox
  // The default key is public: it is in the source. A key that the user gave is not printed.
  const shownKey = key === undefined ? appKey : null
  if (options.json) return printJson({ baseUrl, appKey: shownKey, rules, servers })
  print(
    `The sandbox platform listens at ${baseUrl}: ${counted(rules, 'alert rule')}, ${counted(servers, 'MCP server')}, all made up.`,
  )
  print(`FERRY_BASE_URL=${baseUrl} FERRY_APP_KEY=${shownKey ?? '<the key you gave>'}`)
  print('Press Ctrl-C to stop it.')
}

async function faultsOf(texts: readonly string[]): Promise<FaultText[]> {
  const { parseFault } = await import('#src/sandbox/fault-text.ts')
  return texts.map(text => {
    try {
      return parseFault(text)
    } catch (error) {
      throw new UsageError(`--fault ${text}: ${error instanceof Error ? error.message : error}`)
    }
  })
}
