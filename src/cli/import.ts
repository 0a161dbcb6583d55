import type { Command } from 'commander'
import type { Ferry } from '#src/ferry.ts'
import type { ImportContext } from '#src/imports/context.ts'
import type { Staged } from '#src/imports/stage.ts'
import { reasonOf } from '#src/model/reason.ts'
import { UsageError } from './errors.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { addOptions, importOptions, type Options } from './import/options.ts'
import { columnsOfProducts } from './import/products.ts'
import { counted, print, printAside, printJson } from './output.ts'
import { type OneShot, withAccounts } from './session.ts'

/*
 *     read the file ─► show what was found ─► ask ─► queue it ─► watch, on a terminal
 *                                          │      └► or do the work here (--wait)
 *                                          └► --dry-run: that is all
 */

export function addImport(program: Command): void {
  addOptions(
    program
      .command('import')
      .description('subscribe the people of a file to a status page')
      .argument('<file>', 'CSV or NDJSON, plain or compressed with gzip or zstd; - is stdin'),
  )
    .addHelpText(
      'after',
      () =>
        `\n${columnsOfProducts()}` +
        '\nShows what would be sent and asks first: imported people are active at once.\n' +
        'Exit codes: 0 done or queued, 3 done with rejects, 4 paused because the platform refused (401, 402, 403),\n' +
        '5 paused or undecided, 1 failed or cancelled.',
    )
    .action((path: string, options: Options) =>
      withAccounts('create', (ferry, session) => runImport(ferry, path, options, session)),
    )
}

async function runImport(ferry: Ferry, path: string, options: Options, session: OneShot): Promise<ExitCode> {
  const wanted = importOptions(options, session.config)
  const { ask, canAsk } = await import('./import/ask.ts')
  if (!options.yes && !options.dryRun && !canAsk(path)) {
    // What else is wrong is told first: this is put right last.
    const { expectStageable } = await import('#src/imports/stage.ts')
    await expectStageable(path, wanted)
    throw new UsageError(
      'nothing was read, for there is no terminal to ask at before people are subscribed: add --yes if you are sure, ' +
        'or --dry-run to see what would be sent',
    )
  }
  const { stageFile } = await import('./import/stage.ts')
  const { signal } = session
  const staged = await stageFile(ferry, path, wanted, options.dryRun ?? false, signal)
  if (staged.import === null) return endDryRun(ferry, path, staged, options)

  await using opened = new AsyncDisposableStack()
  const id = staged.import
  opened.defer(() => discard(ferry, id, staged, options))
  await showStaged(ferry, path, staged, options)
  signal.throwIfAborted()
  if (!options.yes && staged.summary.pending > 0) {
    const question = `Subscribe ${counted(staged.summary.pending, 'person', 'people')}? They are active at once.`
    if (!(await ask(question, signal))) return EXIT.failed
  }
  const { confirmImport } = await import('#src/imports/control.ts')
  const status = await confirmImport(ferry.pool, id)
  opened.move()
  const { finishHere, leaveToWorkers, tellWhatCameOfIt } = await import('./import/confirmed.ts')
  if (status === 'completed') return tellWhatCameOfIt(ferry, id, options)
  return options.wait ? finishHere(ferry, id, options, session) : leaveToWorkers(ferry, id, options, session)
}

async function endDryRun(ferry: Ferry, path: string, staged: Staged, options: Options): Promise<ExitCode> {
  await showStaged(ferry, path, staged, options)
  if (options.json) printJson(staged.summary)
  else print('Nothing of the file was stored, and nothing was sent.')
  return staged.summary.rejected > 0 ? EXIT.partial : EXIT.done
}

async function showStaged(
  ferry: ImportContext,
  path: string,
  staged: Staged,
  options: Options,
): Promise<void> {
  const { estimateMs } = await import('#src/imports/estimate.ts')
  const { summary, file, reasons, samples, rejectSamples, warnings } = staged
  const limit = ferry.accounts.get(summary.account)?.importLimit
  const estimate = limit ? estimateMs(summary.batches, limit) : 0
  if (options.json) {
    printJson({ staged: { ...file, reasons, samples, rejectSamples, warnings, estimateMs: estimate } })
    return
  }
  const { printStaged } = await import('./import/staged.ts')
  printStaged(path, staged, estimate)
}

/** The import was not confirmed. What cannot be discarded now expires by itself. */
async function discard({ pool, log }: Ferry, id: bigint, staged: Staged, options: Options): Promise<void> {
  const { discardStaging } = await import('#src/imports/stage.ts')
  try {
    await discardStaging(pool, id)
    printAside('ferry: nothing was sent, and what was read is discarded')
  } catch (error) {
    log.warn({ error: reasonOf(error) }, 'what was read could not be discarded; it is within a day')
  }
  if (options.json) printJson({ ...staged.summary, import: null })
}
