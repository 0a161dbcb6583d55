import type { z } from 'zod'
import type { Operation } from '#src/model/call.ts'
import { readAnswer, type Scrub, type Verdict } from './answer.ts'
import type { FindKnown, ListingEnd, ListingStep } from './listing.ts'
import { stringifyLossless } from './lossless-json.ts'
import type { Answered, Post } from './post.ts'
import { readListing, type ScannedListing } from './read-listing.ts'
import type { RowKind } from './read-rows.ts'

/** A question to the platform, and how its answer is read: `receive` yields `Step`s while it comes. */
export type PlatformRequest<Step, Body, T> = {
  readonly operation: Operation
  readonly body: Buffer
  readonly receive: Post<Step, Body>['receive']
  readonly read: (answer: Answered<Body>, scrub: Scrub) => Verdict<T>
}

export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(stringifyLossless(value))
}

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
