import type { StagingWriter } from '#src/store/imports/staging.ts'
import type { Verdict } from './checks/row.ts'
import { bytesOfRow } from './estimate.ts'
import type { Sink } from './file/reader.ts'
import type { OpenFile } from './file/rows.ts'
import { openSeenBefore } from './seen-before.ts'

export type RowSink = Sink & {
  /** How many rows have been taken so far, the line of the last, and what a good one has of bytes on average. */
  taken(): { readonly read: number; readonly lastLine: number; readonly bytesARow: number }
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

  return {
    taken: () => ({ read, lastLine, bytesARow: good === 0 ? 0 : bytes / good }),

    // Many at a time, one right after the other: a processor then waits for several places in memory at once.
    findRepeated() {
      for (const hash of hashes) if (seenBefore(hash)) writer.repeated(hash)
      hashes.length = 0
    },

    row(line, values, raw, mayRefuse) {
      const verdict = check(values)
      if (verdict.kind === 'rejected' && mayRefuse) return false
      read++
      lastLine = line
      if (verdict.kind === 'good') {
        const { recipient, all, componentIds, locale } = verdict
        const hash = hashOf(recipient)
        hashes.push(hash)
        good++
        bytes += bytesOfRow(recipient, locale, componentIds)
        writer.recipient({ line, hash, all, componentIds, locale, recipient, raw })
      } else if (verdict.kind === 'left out') {
        const { reason, recipient } = verdict
        writer.leftOut({ line, reason, recipient, hash: recipient === null ? null : hashOf(recipient) })
      } else {
        const { reason, message } = verdict
        writer.reject({ line, reason, column: file.columnOf(verdict.field), message, raw })
      }
      return true
    },

    damaged(line, reason, message, raw) {
      read++
      lastLine = line
      // Postgres holds no U+0000: a stand-in that can be seen.
      writer.reject({ line, reason, column: null, message, raw: raw.replaceAll('\0', '\u2400') })
    },
  }
}
