import type { Command } from 'commander'
import type { Ferry } from '#src/ferry.ts'
import type { DueDone } from '#src/worker/run-due.ts'
import { type OneShotContext, withAccounts } from './command-context.ts'
import { EXIT, type ExitCode, gravest } from './exit.ts'
import { printAside, printJson } from './output.ts'
import { listLeft } from './run-due/left.ts'
import { tellImport, tellRun, tellSlot } from './run-due/tell.ts'

type Options = { readonly untilIdle?: true; readonly json?: true }

export function addRunDue(program: Command): void {
  program
    .command('run-due')
    .description('do what is due now, and end: for cron jobs, and machines on which no worker stays running')
    .option('--until-idle', 'go on until nothing can be done now, imports included')
    .option('--json', 'print one JSON object for each thing that was done, or is left')
    .action((options: Options) =>
      withAccounts('create', (ferry, context) => doWhatIsDue(ferry, options, context)),
    )
}

/** From the signal. What is still under way then is cut off and given back, as by a worker that drains. */
const CUT_OFF_AFTER_MS = 23_000

/** Until idle, people are told at most this often; and in the end. */
const NOTIFY_EVERY_MS = 20_000

async function doWhatIsDue(ferry: Ferry, options: Options, { signal }: OneShotContext): Promise<ExitCode> {
  const { JOBS } = await import('#jobs/index.ts')
  const { defineSchedules } = await import('#jobs/schedules.ts')
  const { runDue } = await import('#src/worker/run-due.ts')
  const { notifyNow } = await import('#src/worker/notifications.ts')
  const { saveSettings, targetsOf } = await import('./worker.ts')
  using stopping = cutOffAfter(signal)
  await saveSettings(ferry, await targetsOf(ferry))

  const codes: ExitCode[] = []
  // A receiver is told of what happens after it became known.
  await notifyNow(ferry, signal)
  let notifiedAtMs = performance.now()
  const left = await runDue(ferry, {
    jobs: JOBS,
    schedules: defineSchedules(ferry),
    untilIdle: options.untilIdle ?? false,
    signal,
    cutOff: stopping.cutOff,
    tell: async done => {
      codes.push(...(await tell(ferry, done, options)))
    },
    afterPass: async () => {
      if (performance.now() - notifiedAtMs < NOTIFY_EVERY_MS) return
      await notifyNow(ferry, signal)
      notifiedAtMs = performance.now()
    },
  })
  await notifyNow(ferry, signal)

  for (const { exit, text, ...named } of await listLeft(ferry, left)) {
    if (options.json) printJson({ ...named, text })
    else printAside(`ferry: left: ${text}`)
    codes.push(exit)
  }
  return gravest(codes)
}

/** Prints what was done. Returns the exit codes that it stands for. */
async function tell(ferry: Ferry, done: DueDone, options: Options): Promise<readonly ExitCode[]> {
  if (done.what === 'import') return [await tellImport(ferry.pool, done.importId, options)]
  const { slot, outcome } = done
  const codes: ExitCode[] = []
  for (const run of outcome.runs ?? []) codes.push(await tellRun(ferry.pool, run, options))
  tellSlot(slot, outcome.status, options)
  return [...codes, outcome.status === 'failed' ? EXIT.failed : EXIT.done]
}

/** A signal that aborts some time after `signal`. Dispose stops the timer. */
function cutOffAfter(signal: AbortSignal): Disposable & { readonly cutOff: AbortSignal } {
  const cutOff = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const onAbort = () => {
    printAside('ferry: finishing what is under way; a second signal exits at once')
    timer = setTimeout(() => cutOff.abort(new Error('draining')), CUT_OFF_AFTER_MS)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  return {
    cutOff: cutOff.signal,
    [Symbol.dispose]() {
      signal.removeEventListener('abort', onAbort)
      clearTimeout(timer)
    },
  }
}
