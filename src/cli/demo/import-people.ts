import type { Ferry } from '#src/ferry.ts'
import type { ImportOptions } from '#src/imports/staging/options.ts'
import { number } from '#src/model/counted.ts'
import type { ImportSummary } from '#src/model/import.ts'
import { SANDBOX_PAGE_ID, type SandboxState } from '#src/sandbox/state.ts'
import { actedBy } from '../acted-by.ts'
import { CommandFailed } from '../errors.ts'
import { emphasised, print, printJson, shownPath } from '../output.ts'
import { SANDBOX } from '../sandbox-note.ts'
import type { SamplePeople } from './sample-people.ts'

type Options = { json?: true }

/** Does what `ferry import FILE … --yes --wait` does, at the platform's real limits. Returns the summary. */
export async function importPeople(
  ferry: Ferry,
  people: SamplePeople,
  options: Options,
  signal: AbortSignal,
): Promise<ImportSummary> {
  const { stageFile } = await import('../import/stage.ts')
  const { confirmImport } = await import('#src/imports/control/decide.ts')
  const { workHere } = await import('../import/watch.ts')
  const { openView } = await import('../import/view.ts')
  const wanted = optionsFor(ferry, people)
  const staged = await stageFile(ferry, people.file, wanted, false, signal)
  if (staged.import === null) throw new CommandFailed('the sample file was not staged')
  if (!options.json) await show(ferry, people, wanted, staged)
  await confirmImport(ferry.pool, staged.import, actedBy())
  const view = options.json ? { show() {}, end() {} } : openView(options)
  const { summary } = await workHere(ferry, staged.import, view, signal)
  signal.throwIfAborted()
  if (options.json) printJson(summary)
  else await printSum(summary)
  return summary
}

function optionsFor({ config }: Ferry, { suppressed }: SamplePeople): ImportOptions {
  return {
    account: SANDBOX,
    pageId: SANDBOX_PAGE_ID,
    method: 'email',
    map: { recipient: 'Email', locale: 'Language' },
    lenientAddresses: false,
    defaultLocale: 'en-US',
    mapLocale: {},
    all: true,
    from: null,
    components: null,
    suppress: suppressed,
    batchRows: config.importBatch,
    firstRows: null,
    onUncertain: 'resend',
    update: false,
  }
}

async function show(
  ferry: Ferry,
  { file, suppressed }: SamplePeople,
  { account, pageId }: ImportOptions,
  staged: Parameters<typeof import('../import/print-report.ts')['printStagingReport']>[1],
): Promise<void> {
  const { printStagingReport } = await import('../import/print-report.ts')
  const { estimateMs } = await import('#src/imports/estimate.ts')
  const { accounts } = ferry
  const limit = accounts.get(account)?.importLimit
  print(`\n${emphasised("Subscribers of another product's status page, imported")}`)
  print(`  ferry import ${shownPath(file)} --page ${pageId} --map recipient=Email --map locale=Language \\`)
  print(`    --default-locale en-US --all --suppress ${shownPath(suppressed)}\n`)
  printStagingReport(shownPath(file), staged, limit ? estimateMs(staged.summary.batches, limit) : 0)
  print('')
}

async function printSum(summary: ImportSummary): Promise<void> {
  const { printSummary } = await import('../import/result.ts')
  const { read, sent, rejected, duplicate, suppressed, alreadyImported, uncertain, pending } = summary
  print('')
  printSummary(summary)
  const parts = {
    sent,
    rejected,
    duplicate,
    suppressed,
    'already imported': alreadyImported,
    uncertain,
    pending,
  }
  const sum = Object.entries(parts).map(([name, rows]) => `${number(rows)} ${name}`)
  print(`\nIt adds up: ${number(read)} read = ${sum.join(' + ')}`)
}

/** Returns in words how the summary, the file and the subscribers in the sandbox differ. */
export function differencesOfImport(
  summary: ImportSummary,
  people: SamplePeople,
  state: SandboxState,
): string[] {
  const { read, sent, rejected, duplicate, suppressed } = summary
  const counted = [read, sent, rejected, duplicate, suppressed].join()
  const { rows, valid } = people
  const right = [rows, valid.size, people.rejected, people.duplicates, people.unsubscribed].join()
  const delivered = state.subscribers.list(SANDBOX_PAGE_ID, 'email')
  const strangers = delivered.filter(({ recipient }) => !valid.has(recipient)).length
  const again = delivered.filter(({ deliveries }) => deliveries > 1).length
  const missing = valid.size - (delivered.length - strangers)
  return [
    ...(counted === right
      ? []
      : [`the import counted ${counted} instead of ${right} (read, sent, rejected, duplicate, suppressed)`]),
    ...(strangers + again + missing === 0
      ? []
      : [`${missing} subscribers are missing, ${again} were sent twice, ${strangers} should not be there`]),
  ]
}
