import { bytesOfRow } from '#src/imports/estimate.ts'
import { localeKey } from './checks/locale.ts'
import type { RowVerdict } from './checks/row.ts'
import type { Sink } from './file/reader.ts'
import type { OpenFile } from './file/rows.ts'
import { openSeenBefore } from './seen-before.ts'
import type { StagingWriter } from './staging-writer.ts'

/** What is counted of rows, beside how many went to which table. */
export type Tally = {
  /** Good rows from whose address something was removed. */
  readonly unseenCharacters: number
  readonly namesOrSeparators: number
  /** Good rows that name components, and one of these components. */
  readonly withComponents: number
  readonly component: string | null
  /** The locales of rows rejected for them (as `localeKey` returns them), with the number of rows. The first 1,000 are counted. */
  readonly wrongLocales: ReadonlyMap<string, number>
}

/** A file has few locales; one that has many has something else in that column. */
const MAX_LOCALES = 1000
/** The form of a locale. Anything else may be personal data. */
const LIKE_A_LOCALE = /^[a-z]{2,3}(?:[-_][a-z\d]{2,8}){0,3}$/i

export type RowSink = Sink & {
  /** How many rows have been taken so far, the line of the last one, and how many bytes a good one has on average. */
  taken(): {
    readonly read: number
    readonly lastLine: number
    readonly bytesARow: number
    readonly tally: Tally
  }
  /** Passes to the writer which recipients taken since the last call may be repeated. Call it after the last row too. */
  findRepeated(): void
}

/** Returns the sink of a reader: it checks each row and writes it to its table. */
export function openRowSink(
  writer: StagingWriter,
  check: (values: readonly unknown[]) => RowVerdict,
  hashOf: (recipient: string) => string,
  file: OpenFile,
): RowSink {
  const seenBefore = openSeenBefore()
  const hashes: string[] = []
  let read = 0
  let lastLine = 0
  let good = 0
  let bytes = 0
  const wrongLocales = new Map<string, number>()
  const tally = {
    unseenCharacters: 0,
    namesOrSeparators: 0,
    withComponents: 0,
    component: null as string | null,
    wrongLocales,
  }

  function count({ cleaned, componentIds }: RowVerdict & { kind: 'good' }): void {
    if (cleaned === 'unseen characters') tally.unseenCharacters++
    else if (cleaned !== null) tally.namesOrSeparators++
    if (componentIds.length === 0) return
    tally.withComponents++
    // The id of a component has no @: anything else may be personal data.
    tally.component ??= componentIds.find(id => /^[\w-]{1,64}$/.test(id)) ?? null
  }

  function countLocale(value: string): void {
    if (!LIKE_A_LOCALE.test(value)) return
    const locale = localeKey(value)
    const before = wrongLocales.get(locale)
    if (before !== undefined || wrongLocales.size < MAX_LOCALES) wrongLocales.set(locale, (before ?? 0) + 1)
  }

  return {
    taken: () => ({ read, lastLine, bytesARow: good === 0 ? 0 : bytes / good, tally }),

    // Many in one loop: a processor then loads several places of memory at once.
    findRepeated() {
      for (const hash of hashes) if (seenBefore(hash)) writer.repeated(hash)
      hashes.length = 0
    },

    faultOf(values) {
      const verdict = check(values)
      return verdict.kind === 'rejected' ? verdict.field : null
    },

    row(line, values, raw) {
      const verdict = check(values)
      read++
      lastLine = line
      if (verdict.kind === 'good') {
        const { recipient, all, componentIds, locale } = verdict
        const hash = hashOf(recipient)
        hashes.push(hash)
        good++
        count(verdict)
        bytes += bytesOfRow(recipient, locale, componentIds)
        writer.recipient({ line, hash, all, componentIds, locale, recipient, raw })
      } else if (verdict.kind === 'left out') {
        const { reason, recipient } = verdict
        writer.leftOut({ line, reason, recipient, hash: recipient === null ? null : hashOf(recipient) })
      } else {
        const { reason, message, value } = verdict
        if (value !== undefined) countLocale(value)
        writer.reject({ line, reason, column: file.columnOf(verdict.field), message, raw })
      }
    },

    damaged(line, reason, message, raw) {
      read++
      lastLine = line
      // Postgres cannot store U+0000: a visible character replaces it.
      writer.reject({ line, reason, column: null, message, raw: raw.replaceAll('\0', '\u2400') })
    },
  }
}
