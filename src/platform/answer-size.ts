/*
 * How much of an answer Ferry takes into memory. A listing is read row by row and may have any number of bytes. A limit of
 * bytes alone would not be enough: 20 million rows of junk fit into 40 MB.
 */

/** A longer row is quarantined without being parsed. */
export const MAX_ROW_BYTES = 1024 * 1024
/** An answer that is not a listing, or the envelope of one. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024
/** The rows of one listing of alert rules: about 40 bytes of each are kept while it is read. */
export const MAX_RULES = 10_000_000
/** The rows of all pages of MCP servers, which are kept until the last page has come. */
export const MAX_SERVERS = 1_000_000

/** The words for an answer beyond each bound. */
export const TOO_MUCH = {
  bytes: 'it has more than 16 MiB beside its rows',
  rules: 'it has more than 10,000,000 rows',
  servers: 'it has more than 1,000,000 rows',
} as const

/** An answer is beyond one of these bounds; the rest of it was not read. The message is one of `TOO_MUCH`. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}
