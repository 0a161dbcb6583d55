import type { Command } from 'commander'
import type { Config } from '#src/config.ts'
import type { RunResult } from '#src/model/run.ts'
import { UsageError } from './errors.ts'
import { harmless, print, printAside } from './output.ts'
import { findSandbox, SANDBOX, SANDBOX_NOTICE, writeSandboxNote } from './sandbox-note.ts'
import { serve } from './service.ts'
import { startWorker } from './worker.ts'

/** As often as alert rules are polled by default. */
const SANDBOX_CHANGES_EVERY_MS = 60_000

export function addUp(program: Command): void {
  program
    .command('up')
    .description('services, migrations and worker in one process, until Ctrl-C')
    .option('--json', 'print one JSON object once it is up')
    .action((options: { json?: true }) =>
      serve(async (context, opened) => {
        const config =
          context.config.accounts.length > 0
            ? context.config
            : await withSandbox(context.config, opened, options)
        const first = options.json ? undefined : new FirstRuns()
        const service = await startWorker({ ...context, config }, opened, {
          ...options,
          ...(first && { onRun: run => first.tell(run) }),
          usesHttp: true,
        })
        if (!options.json) print('\nFerry is up. Press Ctrl-C to stop it.')
        first?.show()
        return service
      }),
    )
}

/**
 * Prints how the first sync since the start ended, of each inventory of each account: what a new user waits for. Until `show` is
 * called, the lines are kept.
 */
class FirstRuns {
  readonly #seen = new Set<string>()
  #kept: string[] | null = []

  tell(run: RunResult): void {
    const inventory = `${run.account} ${run.resource}`
    if (run.status === 'skipped' || this.#seen.has(inventory)) return
    this.#seen.add(inventory)
    if (this.#kept === null) print(firstLine(run))
    else this.#kept.push(firstLine(run))
  }

  show(): void {
    this.#kept?.forEach(print)
    this.#kept = null
  }
}

function firstLine(run: RunResult): string {
  const { account, resource, status, message, requestId } = run
  const counts = `${run.seen} listed, ${run.added} added, ${run.changed} changed, ${run.removed} removed`
  const why = message === null ? '' : `. ${message}`
  const asked = requestId === null || status === 'succeeded' ? '' : ` (request_id ${requestId})`
  return harmless(
    `First sync since the start, ${resource} of account ${account}: ${status}, ${counts}${why}${asked}`,
  )
}

/** Starts the sandbox and leaves a note for other commands in the data directory. Throws if another one is running. */
async function withSandbox(
  config: Config,
  opened: AsyncDisposableStack,
  options: { json?: true },
): Promise<Config> {
  const other = await findSandbox(config.dataDir)
  if (other) {
    throw new UsageError(
      `ferry up is already running here (pid ${other.pid}): other commands beside it use its sandbox. ` +
        'Stop it first, or set FERRY_DATA_DIR to another directory.',
    )
  }
  const say = options.json ? printAside : print
  say(SANDBOX_NOTICE)
  say('Some of its data changes every minute, so that there is history to see.')
  say('Set FERRY_BASE_URL and FERRY_APP_KEY to use your own.\n')
  const { makeDataDir } = await import('#src/embedded/placement.ts')
  const { openSandbox } = await import('#src/sandbox/sandbox.ts')
  const { withAccount } = await import('#src/config.ts')
  await makeDataDir(config.dataDir)
  const { openChanges } = await import('#src/sandbox/sandbox.ts')
  const sandbox = opened.use(await openSandbox())
  opened.use(openChanges(sandbox, SANDBOX_CHANGES_EVERY_MS))
  opened.use(writeSandboxNote(config.dataDir, sandbox))
  return withAccount(config, SANDBOX, sandbox.baseUrl, sandbox.appKey)
}
