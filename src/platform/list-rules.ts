import type { AlertRule } from '#src/model/alert-rule.ts'
import { readAnswer, type Verdict } from './answer.ts'
import { AlertRulesData } from './contract.ts'
import { readWhole } from './read-body.ts'
import { EMPTY_LISTING, mayBeListing, readListing, type ScannedListing } from './read-listing.ts'
import { jsonBytes, type PlatformRequest } from './request.ts'
import { ALERT_RULES } from './row-kinds.ts'
import type { ListingEnd, RowSink } from './row-sink.ts'

/** Asks for the alert rules of a folder. Rows are handed to `sink` as they come; they count once the verdict is good. */
export function listRulesRequest(
  folderId: bigint,
  sink: RowSink<AlertRule>,
): PlatformRequest<ScannedListing, ListingEnd> {
  return {
    operation: 'list-alert-rules',
    body: jsonBytes({ folder_id: folderId }),
    receive: async (head, chunks) =>
      mayBeListing(head)
        ? readListing(ALERT_RULES, chunks, sink)
        : { ...EMPTY_LISTING, around: await readWhole(chunks), damage: null },
    read(answer, scrub) {
      const { around, damage, ...listing } = answer.body
      const verdict = readAnswer({ ...answer, body: around }, AlertRulesData, scrub, damage)
      if (!verdict.ok || verdict.data !== null || listing.rows === 0) return withData(verdict, listing)
      // The text had two members `data`. The last one counts, and it is null.
      sink.begin()
      return withData(verdict, EMPTY_LISTING)
    },
  }
}

function withData<T>(verdict: Verdict<unknown>, data: T): Verdict<T> {
  return verdict.ok ? { ...verdict, data } : verdict
}
