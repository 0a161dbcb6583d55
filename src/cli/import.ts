import type { Command } from 'commander'
import type { Ferry } from '#src/ferry.ts'
import type { ImportContext } from '#src/imports/context.ts'
import type { StagingReport } from '#src/imports/staging/staging-report.ts'
import { counted } from '#src/model/counted.ts'
import { reasonOf } from '#src/model/reason.ts'
import { actedBy } from './acted-by.ts'
import { pathArgument } from './arguments.ts'
import { type OneShotContext, withAccounts } from './command-context.ts'
import { UsageError } from './errors.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { addOptions, columnsOfProducts, importOptions, type Options } from './import/options.ts'
import { print, printAside, printJson } from './output.ts'

/*
 *     stage the file ─► show the report ─► ask ─► queue it ─► watch, on a terminal
 *                                          │      └► or do the work here (--wait)
 *                                          └► --dry-run: that is all
 */

export function addImport(program: Command): void {
  addOptions(
    program
      .command('import')
      .description('subscribe the recipients in a file to a status page')
      .argument('<file>', 'CSV or NDJSON, plain or compressed with gzip or zstd; - is stdin', pathArgument),
  )
    .addHelpText(
      'after',
      () =>
        `\n${columnsOfProducts()}` +
        '\nShows what would be sent, and asks before it sends: imported people are active at once.\n' +
        'Exit codes: 0 done or queued, 3 done with rejects, 4 paused because the platform refused (401, 402, 403),\n' +
        '5 paused or undecided, 1 failed or cancelled.',
    )
    .action((path: string, options: Options) =>
      withAccounts('create', (ferry, context) => runImport(ferry, path, options, context)),
    )
}

async function runImport(
  ferry: Ferry,
  path: string,
  options: Options,
  context: OneShotContext,
): Promise<ExitCode> {
  const wanted = importOptions(options, context.config)
  const { ask, canAsk } = await import('./import/ask.ts')
  if (!options.yes && !options.dryRun && !canAsk(path)) {
    // Other mistakes are reported first: this one is the last to correct.
    const { expectStageable } = await import('#src/imports/staging/rules.ts')
    await expectStageable(path, wanted)
    throw new UsageError(
      'nothing was read, because there is no terminal to ask for confirmation on: add --yes if you are sure, ' +
        'or --dry-run to see what would be sent',
    )
  }
  const { stageFile } = await import('./import/stage.ts')
  const { signal } = context
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
  const { confirmImport } = await import('#src/imports/control/decide.ts')
  const status = await confirmImport(ferry.pool, id, actedBy(options))
  opened.move()
  const { finishHere, leaveToWorkers, printResult } = await import('./import/confirmed.ts')
  if (status === 'completed') return printResult(ferry, id, options)
  return options.wait ? finishHere(ferry, id, options, context) : leaveToWorkers(ferry, id, options, context)
}

async function endDryRun(
  ferry: Ferry,
  path: string,
  staged: StagingReport,
  options: Options,
): Promise<ExitCode> {
  await showStaged(ferry, path, staged, options)
  if (options.json) printJson(staged.summary)
  else print('Nothing was stored, and nothing was sent.')
  return staged.summary.rejected > 0 ? EXIT.partial : EXIT.done
}

async function showStaged(
  ferry: ImportContext,
  path: string,
  staged: StagingReport,
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
  const { printStagingReport } = await import('./import/print-report.ts')
  printStagingReport(path, staged, estimate)
}

/** Discards an import that was not confirmed here. If that fails, it expires within a day; another may have confirmed it meanwhile. */
async function discard(
  { pool, log }: Ferry,
  id: bigint,
  staged: StagingReport,
  options: Options,
): Promise<void> {
  const { discardStaging } = await import('#src/imports/staging/expire.ts')
  const { loadSummaryRow } = await import('#src/imports/reporting/summary.ts')
  let left: bigint | null = null
  try {
    const other = (await discardStaging(pool, id)) ? null : await loadSummaryRow(pool, id)
    left = other && id
    printAside(
      other
        ? `ferry: somebody else decided about import ${id} meanwhile: it is ${other.status}. \`ferry imports show ${id}\` shows it.`
        : 'ferry: nothing was sent; the rows that were read were discarded',
    )
  } catch (error) {
    left = id
    log.warn(
      { import: `${id}`, error: reasonOf(error) },
      'The rows that were read could not be discarded. They expire within a day, unless the import was confirmed.',
    )
  }
  if (options.json) printJson({ ...staged.summary, import: left })
}
