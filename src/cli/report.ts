import { type Command, Option } from 'commander'
import type { Pool } from 'pg'
import { isNot } from '#src/model/did-you-mean.ts'
import type { Report, ReportArguments, ReportOption } from '#src/reports/catalogue.ts'
import { expectAccount } from './accounts.ts'
import { dateArgument, instantArgument } from './arguments.ts'
import { runOneShot } from './command-context.ts'
import { UsageError } from './errors.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { noteLateness } from './history-note.ts'
import { harmless, printAside } from './output.ts'
import { FORMATS, type Format, printRows } from './report-formats.ts'

type Options = { since?: Date; account?: string; night?: string; format?: Format; json?: true }

export function addReport(program: Command): void {
  program
    .command('report')
    .description(
      'print a report, as its view or function in Postgres shows it; without a name, list all reports',
    )
    .argument('[name]', 'the name of a report')
    .option('--since <when>', 'how far back: 24h, 7d or 2026-11-01', instantArgument)
    .option('--account <name>', 'only this account')
    .option('--night <date>', 'as the snapshot of that night shows it: 2026-11-20', dateArgument)
    .addOption(new Option('--format <format>', 'how to print it (default: table)').choices(FORMATS))
    .addOption(new Option('--json', 'print one JSON object per row').conflicts('format'))
    .action((name: string | undefined, { json, format: chosen, ...given }: Options) =>
      runOneShot(async context => {
        const format = json ? 'json' : (chosen ?? 'table')
        if (name === undefined) return await list(given, format)
        const report = await reportNamed(name)
        const { optionsOf } = await import('#src/reports/catalogue.ts')
        expectTaken(report.name, optionsOf(report), given)
        const { openFerry } = await import('#src/ferry.ts')
        await using ferry = await openFerry(context.config, { ...context, schema: 'read' })
        await expectAccount(ferry, given.account)
        if (report.ofNight && given.night) await expectNight(ferry.pool, given.night, given.account)
        const { runReport } = await import('#src/reports/run-report.ts')
        const { columns, rows } = await runReport(ferry.pool, report, given)
        const { noteFutureSince, noteLooksBack } = await import('./history-note.ts')
        const isFuture = given.since !== undefined && (await noteFutureSince(ferry.pool, given.since))
        // Some reports also count what began before and goes on.
        await printRows(columns, isFuture ? [] : rows, format, 'No rows: nothing to report.')
        if (report.of && !given.night) {
          await noteLateness(ferry.pool, report.of, given.account)
        }
        if (report.looksBack) {
          const from = given.since ?? (given.night ? new Date(given.night) : undefined)
          await noteLooksBack(ferry.pool, report.looksBack, from, context.config.retention)
        }
        return EXIT.done
      }),
    )
}

async function list(given: ReportArguments, format: Format): Promise<ExitCode> {
  expectTaken('the list of reports', [], given)
  const { optionsOf, REPORTS } = await import('#src/reports/catalogue.ts')
  const rows = REPORTS.map(report => [
    report.name,
    report.shows,
    optionsOf(report).map(option => `--${option}`),
  ])
  await printRows(['report', 'shows', 'options'], rows, format, 'There are no reports.')
  return EXIT.done
}

/** Throws `UsageError` if there is no such report; it names the nearest. */
async function reportNamed(name: string): Promise<Report> {
  const { findReport, REPORTS } = await import('#src/reports/catalogue.ts')
  const report = findReport(name)
  if (report) return report
  const wrong = isNot(
    'a report',
    name,
    REPORTS.map(({ name }) => name),
  )
  const end = wrong.endsWith('?') ? '' : ';'
  throw new UsageError(`${JSON.stringify(name)} ${wrong}${end} \`ferry report\` lists them all`)
}

/** A date begins so long before it begins in UTC, where it begins first. */
const EARLIEST_ZONE_MS = 14 * 3_600_000

/** Throws `UsageError` if the night has no snapshot, or it was removed. Notes which snapshots are incomplete. */
async function expectNight(pool: Pool, night: string, account: string | undefined): Promise<void> {
  const { loadNight } = await import('#src/reports/nights.ts')
  const snapshots = await loadNight(pool, night, account ?? null)
  if (snapshots.every(({ status }) => status === 'missed')) {
    await pool.query('select ferry_internal.expect_history($1::date)', [night])
    const whose = account === undefined ? '' : ` of account ${JSON.stringify(account)}`
    const isToCome = Date.parse(night) > Date.now() + EARLIEST_ZONE_MS
    const nights = isToCome ? 'ferry report nights' : `ferry report nights --since ${night}`
    throw new UsageError(
      `there is no snapshot${whose} of the night ${night}${isToCome ? ', which is still to come' : ''}; \`${nights}\` lists the nights`,
    )
  }
  for (const { account, status } of snapshots) {
    if (status === 'succeeded') continue
    const what =
      status === 'missed' ? 'was missed, so it has no rows here' : `is ${status}, so it may lack changes`
    printAside(`ferry: the snapshot of account ${harmless(account)} of the night ${night} ${what}.`)
  }
}

/** Throws `UsageError` for an option that does not apply: the rows would look as if it did. */
function expectTaken(what: string, takes: readonly ReportOption[], given: ReportArguments): void {
  const wrong = REPORT_OPTIONS.filter(option => given[option] !== undefined && !takes.includes(option))
  if (wrong.length === 0) return
  const taken =
    takes.length === 0 ? 'it takes no options' : `it takes ${takes.map(each => `--${each}`).join(', ')}`
  throw new UsageError(`${what} does not take --${wrong.join(' or --')}; ${taken}`)
}

const REPORT_OPTIONS: readonly ReportOption[] = ['since', 'account', 'night']
