import type { z } from 'zod'
import type { Operation } from '#src/model/call.ts'
import { readAnswer } from './answer.ts'
import type { FindKnown, ListingEnd, ListingStep } from './listing.ts'
import { readListing, type ScannedListing } from './read-listing.ts'
import type { RowKind } from './read-rows.ts'
import { jsonBytes, type PlatformRequest } from './request.ts'

/** Asks for rows of one kind, and checks the rest of `data`. Rows that are known are yielded as known. */
export function listRequest<Row, Wire, Data>(
  operation: Operation,
  body: object,
  kind: RowKind<Row, Wire>,
  data: z.ZodType<Data>,
  find: FindKnown,
): PlatformRequest<ListingStep<Row>, ScannedListing, { readonly data: Data; readonly listing: ListingEnd }> {
  return {
    operation,
    body: jsonBytes(body),
    receive: (head, chunks) => readListing(kind, find, head, chunks),
    read(answer, scrub) {
      const { around, damage, listing } = answer.body
      const verdict = readAnswer({ ...answer, body: around }, data, scrub, damage)
      return verdict.ok ? { ...verdict, data: { data: verdict.data, listing } } : verdict
    },
  }
}
