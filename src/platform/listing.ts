import type { Drift, Quarantined } from '#src/model/listing.ts'
import type { Answer } from './answer.ts'
import type { WrittenRow } from './written-row.ts'

/*
 * A listing is pulled, step by step, while it comes over the network:
 *
 *     for await (const step of client.listAlertRules(folder, find, context)) …
 *
 *     begins ──► rows ──► rows ──► … ──► ended: a good answer, or a refusal
 *       ▲                   │
 *       └───────────────────┘ it was not a listing after all (its envelope, damage, a lost connection), and is read again
 *
 * 1. `client.ts` waits for a permit, and `post.ts` sends the request. If the answer may be a listing, it begins.
 * 2. `row-scanner.ts` finds the rows in the bytes of each chunk. Where a row ends is guessed first (`row-guess.ts`), and
 *    proven by what follows.
 * 3. `read-listing.ts` asks `find` whether the text of the row is known. If not, `plain-row.ts` takes it apart where it lies, if it
 *    is as plain as most; else `read-rows.ts` parses and checks it. The row is good, or quarantined. The rows of a chunk are one
 *    step.
 * 4. Once the body has ended, the envelope tells whether it was a listing at all. If not, `retry-listing.ts` makes another
 *    attempt, and the listing begins again.
 *
 * The rows count once the answer is good. The next chunk is read only when the rows of the last one were taken, and the memory of
 * that one is given back then, unless many of its rows keep a part of it; the time a slow reader takes does not count against the
 * platform. A listing that is left in the middle gives up its connection. MCP servers come in pages, which are kept until the list
 * is known to be whole (`mcp-listing.ts`), and then take the same steps.
 */

export type Listing<Row> = AsyncGenerator<ListingStep<Row>, void>

export type ListingStep<Row> =
  /** Earlier rows, if any, do not count. */
  | { readonly kind: 'begins' }
  /** Empty once the next step was asked for. */
  | { readonly kind: 'rows'; readonly rows: readonly ListedRow<Row>[] }
  /** The last step. `pages` were read for it. */
  | { readonly kind: 'ended'; readonly pages: number; readonly answer: Answer<ListingEnd> }

export type ListedRow<Row> = KnownRow<Row> | ReadRow<Row>

/** A row whose text is known, and which was not parsed. */
export type KnownRow<Row> = {
  readonly kind: 'known'
  readonly digest: string
  /** What `find` returned. */
  readonly known: number
  /** Parses it anyway. Not any more once the next step was asked for. */
  read(): ReadRow<Row>
}

export type ReadRow<Row> =
  | GoodRow<Row>
  | (Quarantined & { readonly kind: 'quarantined'; readonly digest: string })

export type GoodRow<Row> = {
  readonly kind: 'good'
  /** The SHA-256 of its text, as 32 characters of one byte each. */
  readonly digest: string
  /** Its position in the listing, from 0. */
  readonly position: number
  readonly id: string
  /** Its fields. It may not be a plain object: some fields are parsed only when they are asked for. */
  readonly row: Row
  /** The paths of fields whose text was altered. */
  readonly altered: readonly string[]
  /** Approximate size. */
  readonly bytes: number
  readonly written: WrittenRow
  /** The text that is stored if it is quarantined after all, see `Quarantined.raw`. */
  declared(): string | null
}

/** The totals of a listing. */
export type ListingEnd = {
  /** Rows delivered, good or not. */
  readonly rows: number
  readonly drift: readonly Drift[]
  /** Equal hashes mean equal rows in the same order. Null if the rows came from several answers. */
  readonly dataHash: string | null
  /** Why absent rows prove nothing; null for a complete listing. */
  readonly incomplete: string | null
  /** Two listings agreed on the ids, so absence is certain without another reading. */
  readonly confirmed: boolean
}

/** Returns the number under which the text with this digest is known, or -1. Null if none is: then rows are likely to be new. */
export type FindKnown = ((digest: string) => number) | null

export const BEGINS = { kind: 'begins' } as const
