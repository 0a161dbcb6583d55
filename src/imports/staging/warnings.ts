import { UNUSUAL } from '#src/imports/staging/checks/recipient.ts'
import { openLocaleCheck } from '#src/imports/staging/checks/values.ts'
import { nameOf, shownColumn } from '#src/imports/staging/file/header.ts'
import type { Shape } from '#src/imports/staging/file/rows.ts'
import type { Compression } from '#src/imports/staging/file/unpack.ts'
import type { Status } from '#src/imports/staging/presets/preset.ts'
import { PRESETS, type PresetName } from '#src/imports/staging/presets/presets.ts'
import { counted, isOrAre, number } from '#src/model/counted.ts'
import type { ImportOptions } from './options.ts'
import type { Tally } from './row-sink.ts'
import type { RejectSample, StagedSample } from './samples.ts'
import type { MaybeSentBefore } from './sent-before.ts'
import type { StagedReason } from './staging.ts'

/** How a file is written, and what of it is read. */
export type StagedFile = Shape & { readonly compression: Compression }

/** What staging found in a file, with recipients as they are. */
export type StagingResult = {
  /** Null for a dry run. */
  readonly id: bigint | null
  readonly options: ImportOptions
  readonly file: StagedFile
  /** Rows to be sent, without those that other imports have sent. */
  readonly recipients: number
  readonly alreadyImported: number
  /** How many recipients the suppression list names; null without one. */
  readonly suppressions: number | null
  readonly maybeSent: readonly MaybeSentBefore[]
  readonly tally: Readonly<Tally>
  readonly reasons: readonly StagedReason[]
  readonly samples: readonly StagedSample[]
  readonly rejects: readonly RejectSample[]
  readonly durationMs: number
}

/** Columns in which products say who has not confirmed, or does not want mail. */
const STATUS_COLUMN =
  /^(?:is|email)?(?:confirmed|verified|(?:un)?subscribed|quarantined|opted|opt(?:in|out)|active|state$|status(?!page)|bounced|blocked|deleted|disabled)/

/** Returns what a person should know before they confirm. No warning names a person. */
export function warningsAbout(result: StagingResult): string[] {
  const { recipients, maybeSent, reasons, file, options, suppressions, tally } = result
  const { read } = tally
  const warnings: string[] = []
  const rows = (reason: string) => reasons.find(known => known.reason === reason)?.rows ?? 0
  if (read === 0) warnings.push('The file has a header and no rows.')
  else if (recipients === 0) warnings.push('No row of the file will be sent.')
  if (suppressions !== null && rows('suppression list') === 0) {
    warnings.push(`The file has none of the ${counted(suppressions, 'recipient')} of the suppression list.`)
  }
  warnings.push(...maybeSent.map(aboutUncertain), ...aboutEnclosed(tally))
  if (rows('no locale') === read && read > 0) {
    warnings.push('No row has a locale: set one for all rows with --default-locale, such as en-US.')
  }
  warnings.push(...aboutLocales(rows('not a locale'), tally.wrongLocales))
  warnings.push(...aboutStatuses(file, options.from))
  warnings.push(...aboutComponents(tally, options))
  warnings.push(...aboutAddresses(tally, rows(UNUSUAL), options.method))
  if (rows('other locale') > 0) {
    warnings.push(
      `${counted(rows('other locale'), 'row repeats', 'rows repeat')} a recipient with another locale: the locale of the recipient's first row is used.`,
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
  const what = `${number(rows)} of these recipients may have been sent by import ${id}; the outcome is unknown.`
  return isHeld
    ? `${what} This import would pause until a person decides: \`ferry imports resolve ${id} --as sent\`, or \`--as resend\`.`
    : `${what} This import sends them again and counts them as resent.`
}

/** A command that maps more locales would be too long to read. */
const MAX_LOCALES_SHOWN = 5

function aboutLocales(rows: number, wrong: Tally['wrongLocales']): string[] {
  const isLocale = openLocaleCheck()
  const frequent = [...wrong]
    .filter(([value]) => isLocale(likelyLocale(value)))
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_LOCALES_SHOWN)
  if (frequent.length === 0) return []
  const named = frequent.map(([locale, count]) => `${locale} (${counted(count, 'row')})`).join(', ')
  const options = frequent.map(([locale]) => `--map-locale ${locale}=${likelyLocale(locale)}`).join(' ')
  return [
    `${counted(rows, 'row')} rejected: the locale has no region, or does not exist: ${named}. ` +
      `Map it to the locale that is meant, for example: ${options}`,
  ]
}

/** The locale that is most likely meant: the region where the language has most speakers. '' if the language does not exist. */
function likelyLocale(value: string): string {
  try {
    const { language, region } = new Intl.Locale(value.replaceAll('_', '-')).maximize()
    return region === undefined ? '' : `${language}-${region}`
  } catch {
    return ''
  }
}

/** The platform does not know the components of another product; its own export has its own. */
function aboutComponents(
  { withComponents, component }: Tally,
  { from, components }: ImportOptions,
): string[] {
  if (from === null || from === 'platform' || components !== null || withComponents === 0) return []
  return [
    `${counted(withComponents, 'row names', 'rows name')} components of ` +
      `${PRESETS[from].product}${component === null ? '' : ` (such as ${shownColumn(component)})`}, which the platform does not know. ` +
      'Map them to components of the status page with --components FILE, unless the ids are the same.',
  ]
}

function aboutAddresses(
  { unseenCharacters, namesOrSeparators }: Tally,
  unusual: number,
  method: string,
): string[] {
  const [one, many] = method === 'email' ? ['address', 'addresses'] : ['recipient', 'recipients']
  const warnings: string[] = []
  if (unseenCharacters > 0) {
    warnings.push(`Invisible characters were removed from ${counted(unseenCharacters, one, many)}.`)
  }
  if (namesOrSeparators > 0) {
    warnings.push(
      `A name, or a comma or semicolon at the end, was removed from ${counted(namesOrSeparators, 'address', 'addresses')}: only the address is sent.`,
    )
  }
  if (unusual > 0) {
    warnings.push(
      `${counted(unusual, 'row')} rejected: the address breaks a rule of e-mail that some real mailboxes break ` +
        '(john..doe@docomo.ne.jp). --lenient-addresses accepts such addresses.',
    )
  }
  return warnings
}

/** A column that is not read may say who has unsubscribed or never confirmed. */
function aboutStatuses({ unused, mapped }: StagedFile, from: PresetName | null): string[] {
  const warnings: string[] = []
  const preset = from === null ? null : PRESETS[from]
  if (preset && !Object.keys(preset.statuses).some(status => status in mapped)) {
    const columns = Object.values<Status>(preset.statuses).map(status => status.columns[0])
    warnings.push(
      `This does not look like an export of ${preset.product}: it has none of its columns (${columns.join(', ')}), so no row is left out because of them.`,
    )
  }
  const statuses = unused.filter(column => STATUS_COLUMN.test(nameOf(column)))
  if (statuses.length > 0) {
    const what = preset ? 'put these recipients on a list for --suppress' : 'name the product with --from'
    warnings.push(
      `${statuses.map(shownColumn).join(', ')} ${isOrAre(statuses.length)} not read. If that says who has not confirmed or does not want mail, ${what}, or remove those rows.`,
    )
  }
  return warnings
}

/** Fewer in all of a file may stand in its notes, and so may one in a hundred rows. */
const MANY_ENCLOSED = 10
const MANY_ENCLOSED_SHARE = 0.01

/** A quote that is closed only rows later makes a cell of them, which may be meant. */
function aboutEnclosed({
  enclosedLines,
  enclosedTogether,
  enclosedAt,
  read,
}: StagingResult['tally']): string[] {
  const isMany =
    enclosedTogether >= MANY_ENCLOSED || enclosedLines >= Math.max(MANY_ENCLOSED, read * MANY_ENCLOSED_SHARE)
  if (enclosedAt === null || !isMany) return []
  return [
    `${counted(enclosedLines, 'line')} that may name somebody are inside the quotes of other rows, first in line ${enclosedAt}: ` +
      'they are not rows. If they should be, correct the quotes there.',
  ]
}
