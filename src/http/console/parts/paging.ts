import { z } from 'zod'
import { parseInstant } from '#src/model/instant.ts'
import { type Html, html } from '../html.ts'
import { BadQuery, href } from '../page.ts'

/** Rows per page. */
export const PAGE_ROWS = 50

/**
 * The place in a list after which a page goes on: the values that the list is ordered by, of the last row shown. Ids are
 * text. An address holds it as `after`.
 */
export function writeCursor(values: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/** Reads what `writeCursor` wrote, whoever gives it; null if there is none. Throws `BadQuery`. */
export function readCursor<Values>(query: URLSearchParams, shape: z.ZodType<Values>): Values | null {
  const text = query.get('after')
  if (!text) return null
  try {
    return shape.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')))
  } catch (cause) {
    throw new BadQuery('The address is wrong: after: is not a place in this list. Begin at its first page.', {
      cause,
    })
  }
}

/** An instant in a cursor, exact to the microsecond as Postgres writes it (`to_json`, or `::text`). */
export const CursorInstant = z.string().refine(text => parseInstant(text) !== null)

/** An id in a cursor, as `idOf` takes it. */
export const CursorId = z.string().regex(/^\d{1,18}$/)

/** Text in a cursor. */
export const CursorText = z
  .string()
  .max(10_000)
  .regex(/^[^\0]*$/)

/** The links under a list. `next` is the cursor of its last row if there are more rows. The filters in `query` are kept. */
export function pager(path: string, query: URLSearchParams, next: string | null): Html | null {
  const kept = Object.fromEntries([...query].filter(([name]) => name !== 'after'))
  const isFirst = !query.get('after')
  if (isFirst && next === null) return null
  return html`<nav class="pager" aria-label="Pages of this list">
${isFirst ? null : html`<a href="${href(path, kept)}">First page</a>`}
${next === null ? html`<span>End of the list.</span>` : html`<a rel="next" href="${href(path, { ...kept, after: next })}">Next page</a>`}
</nav>`
}
