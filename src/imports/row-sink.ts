import type { StagingWriter } from '#src/store/imports/staging.ts'
import { localeKey } from './checks/locale.ts'
import type { Verdict } from './checks/row.ts'
import { bytesOfRow } from './estimate.ts'
import type { Sink } from './file/reader.ts'
import type { OpenFile } from './file/rows.ts'
import { openSeenBefore } from './seen-before.ts'

/** What is counted of rows beside where they went. */
export type Tally = {
  /** Good rows of which something was taken off the address. */
  readonly unseenCharacters: number
  readonly namesOrSeparators: number
  /** Good rows that name components, and one that they name. */
  readonly withComponents: number
  readonly component: string | null
  /** What rejected rows have for a locale (as `localeKey` makes it), and how many. Of many different ones the first are counted. */
  readonly wrongLocales: ReadonlyMap<string, number>
}

/** So many: a file has few locales, and one that has many has something else in that column. */
const LOCALES_COUNTED = 1000
/** As a locale is written. Anything else may be about a person. */
const LIKE_A_LOCALE = /^[a-z]{2,3}(?:[-_][a-z\d]{2,8}){0,3}$/i

export type RowSink = Sink & {
  /** How many rows have been taken so far, the line of the last, and what a good one has of bytes on average. */
  taken(): {
    readonly read: number
    readonly lastLine: number
    readonly bytesARow: number
    readonly tally: Tally
  }
  /** Tells the writer which of the recipients taken since the last time may have come before. To be called last too. */
  findRepeated(): void
}

/** Returns where a reader leaves rows: each is judged and written to the table it belongs in. */
export function openRowSink(
  writer: StagingWriter,
  check: (values: readonly unknown[]) => Verdict,
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

  function count({ cleaned, componentIds }: Verdict & { kind: 'good' }): void {
    if (cleaned === 'unseen characters') tally.unseenCharacters++
    else if (cleaned !== null) tally.namesOrSeparators++
    if (componentIds.length === 0) return
    tally.withComponents++
    // An id of a product has no @: anything else may name a person.
    tally.component ??= componentIds.find(id => /^[\w-]{1,64}$/.test(id)) ?? null
  }

  function countLocale(said: string): void {
    if (!LIKE_A_LOCALE.test(said)) return
    const locale = localeKey(said)
    const before = wrongLocales.get(locale)
    if (before !== undefined || wrongLocales.size < LOCALES_COUNTED)
      wrongLocales.set(locale, (before ?? 0) + 1)
  }

  return {
    taken: () => ({ read, lastLine, bytesARow: good === 0 ? 0 : bytes / good, tally }),

    // Many at a time, one right after the other: a processor then waits for several places in memory at once.
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
      // Postgres holds no U+0000: a stand-in that can be seen.
      writer.reject({ line, reason, column: null, message, raw: raw.replaceAll('\0', '\u2400') })
    },
  }
}
