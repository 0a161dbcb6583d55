import type { StagedReason, StagedSample } from '#src/store/imports/finish-staging.ts'
import type { MaybeSentBefore } from '#src/store/imports/sent-before.ts'
import { openLocaleCheck } from './checks/locale.ts'
import { UNUSUAL } from './checks/recipient.ts'
import { callsFor } from './estimate.ts'
import { nameOf } from './file/header.ts'
import { maskRecipient } from './mask.ts'
import type { Status } from './presets/preset.ts'
import { PRESETS, type PresetName } from './presets/presets.ts'
import type { Tally } from './row-sink.ts'
import type { ImportOptions, Staged, StagedFile } from './staged.ts'

/** What staging found in a file, before it is told. */
export type Found = {
  /** Null for a dry run. */
  readonly id: bigint | null
  readonly options: ImportOptions
  readonly file: StagedFile
  readonly read: number
  /** Rows to be sent, without those that other imports have sent. */
  readonly recipients: number
  readonly alreadyImported: number
  readonly maybeSent: readonly MaybeSentBefore[]
  /** On average, in a request. */
  readonly bytesARow: number
  readonly tally: Tally
  readonly reasons: readonly StagedReason[]
  readonly samples: readonly StagedSample[]
  readonly rejects: Staged['rejectSamples']
  readonly durationMs: number
}

/** Tells what was found: counts, samples that name nobody, and what somebody should know before they confirm. */
export function stagedOf(found: Found): Staged {
  const { id, options, read, recipients, alreadyImported, file } = found
  const sentBefore = { kind: 'already imported', reason: 'already imported', rows: alreadyImported } as const
  const reasons = alreadyImported > 0 ? [...found.reasons, sentBefore] : found.reasons
  const rowsOf = (kind: StagedReason['kind']) =>
    reasons.reduce((sum, reason) => (reason.kind === kind ? sum + reason.rows : sum), 0)
  return {
    import: id,
    summary: {
      import: id,
      account: options.account,
      page: options.pageId,
      status: 'staging',
      read,
      sent: 0,
      rejected: rowsOf('rejected'),
      duplicate: rowsOf('duplicate'),
      suppressed: rowsOf('suppressed'),
      alreadyImported,
      uncertain: 0,
      pending: recipients,
      batches: callsFor(recipients, options.batchRows, found.bytesARow),
      requests: 0,
      durationMs: found.durationMs,
    },
    file,
    reasons,
    samples: found.samples.map(sample => ({ ...sample, recipient: maskRecipient(sample.recipient) })),
    rejectSamples: found.rejects,
    warnings: warningsAbout(found),
  }
}

/** Columns by which products tell who has not confirmed, or wants no mail. */
const STATUS_COLUMN =
  /^(?:is|email)?(?:confirmed|verified|(?:un)?subscribed|quarantined|opted|opt(?:in|out)|active|state$|status(?!page)|bounced|blocked|deleted|disabled)/

function warningsAbout({ read, recipients, maybeSent, reasons, file, options, tally }: Found): string[] {
  const warnings: string[] = []
  const rows = (reason: string) => reasons.find(known => known.reason === reason)?.rows ?? 0
  if (read === 0) warnings.push('The file has a header and no rows.')
  else if (recipients === 0) warnings.push('No row of the file is left to be sent.')
  warnings.push(...maybeSent.map(aboutUncertain))
  if (rows('no locale') === read && read > 0) {
    warnings.push('No row has a locale: give the one for all of them with --default-locale, such as en-US.')
  }
  warnings.push(...aboutLocales(rows('not a locale'), tally.wrongLocales))
  warnings.push(...aboutStatuses(file, options.from))
  warnings.push(...aboutComponents(tally, options))
  warnings.push(...aboutAddresses(tally, rows(UNUSUAL)))
  if (rows('other locale') > 0) {
    warnings.push(
      `A recipient comes again with another locale in ${counted(rows('other locale'), 'row')}: that of the first row stays.`,
    )
  }
  if (rows('not UTF-8') > 0) {
    warnings.push(
      `Not UTF-8: ${counted(rows('not UTF-8'), 'line')}. If the file is Latin-1, convert it: iconv -f ISO-8859-1 -t UTF-8`,
    )
  }
  return warnings
}

function aboutUncertain({ earlierImport: id, rows, isHeld }: MaybeSentBefore): string {
  const what = `${rows.toLocaleString('en-US')} of these people may have been sent by import ${id}`
  return isHeld
    ? `${what}, whose outcome nobody knows: this import would pause until it is decided ` +
        `(\`ferry imports resolve ${id} --as sent\`, or \`--as resend\`).`
    : `${what}, with an outcome nobody knows: this import sends them again and counts them as resent.`
}

/** So many of them are named; the commands that name more are no help. */
const LOCALES_NAMED = 5

function aboutLocales(rows: number, wrong: Tally['wrongLocales']): string[] {
  const isLocale = openLocaleCheck()
  const frequent = [...wrong]
    .filter(([said]) => isLocale(likelyLocale(said)))
    .sort(([, a], [, b]) => b - a)
    .slice(0, LOCALES_NAMED)
  if (frequent.length === 0) return []
  const named = frequent.map(([locale, count]) => `${locale} (${counted(count, 'row')})`).join(', ')
  const options = frequent.map(([locale]) => `--map-locale ${locale}=${likelyLocale(locale)}`).join(' ')
  return [
    `${counted(rows, 'row')} rejected for a locale without a region, or none that there is: ${named}. ` +
      `Say which locale is meant, for example: ${options}`,
  ]
}

/** What is most likely meant, the region in which the language has most speakers; '' if there is no such language. */
function likelyLocale(said: string): string {
  try {
    const { language, region } = new Intl.Locale(said.replaceAll('_', '-')).maximize()
    return region === undefined ? '' : `${language}-${region}`
  } catch {
    return ''
  }
}

/** A component of the old product means nothing to the platform. Its own export has its own. */
function aboutComponents(
  { withComponents, component }: Tally,
  { from, components }: ImportOptions,
): string[] {
  if (from === null || from === 'platform' || components !== null || withComponents === 0) return []
  return [
    `${counted(withComponents, 'row')} ${withComponents === 1 ? 'names' : 'name'} components of ` +
      `${PRESETS[from].product}${component === null ? '' : ` (such as ${component})`}, which the platform does not know. Give their ids there with ` +
      '--components FILE, unless they are the same.',
  ]
}

function aboutAddresses({ unseenCharacters, namesOrSeparators }: Tally, unusual: number): string[] {
  const warnings: string[] = []
  if (unseenCharacters > 0) {
    warnings.push(`Characters that cannot be seen were taken off ${addresses(unseenCharacters)}.`)
  }
  if (namesOrSeparators > 0) {
    warnings.push(
      `A name, or a comma or semicolon at the end, was taken off ${addresses(namesOrSeparators)}: only the address is sent.`,
    )
  }
  if (unusual > 0) {
    warnings.push(
      `${counted(unusual, 'row')} rejected for an address that breaks a rule of e-mail which some real mailboxes break ` +
        '(john..doe@docomo.ne.jp): --lenient-addresses accepts it.',
    )
  }
  return warnings
}

function addresses(count: number): string {
  return `${count} address${count === 1 ? '' : 'es'}`
}

/** Whoever has unsubscribed or never confirmed may be told by a column that nothing is read from. */
function aboutStatuses({ unused, mapped }: StagedFile, from: PresetName | null): string[] {
  const warnings: string[] = []
  const preset = from === null ? null : PRESETS[from]
  if (preset && !Object.keys(preset.statuses).some(status => status in mapped)) {
    const columns = Object.values<Status>(preset.statuses).map(status => status.columns[0])
    warnings.push(
      `This does not look like an export of ${preset.product}: it has none of its columns (${columns.join(', ')}), so nobody is left out by them.`,
    )
  }
  const statuses = unused.filter(column => STATUS_COLUMN.test(nameOf(column)))
  if (statuses.length > 0) {
    const what = preset ? 'put them on a list for --suppress' : 'name the product with --from'
    warnings.push(
      `Nothing is read from ${statuses.join(', ')}: if that tells who has not confirmed or does not want to be written to, ${what}, or take those rows out.`,
    )
  }
  return warnings
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
