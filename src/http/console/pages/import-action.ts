import { ImportRefuses } from '#src/imports/errors.ts'
import { seenOf } from '#src/imports/move-import.ts'
import { loadSummaryRow, type SummaryRow } from '#src/imports/reporting/summary.ts'
import type { ActedBy } from '#src/model/act.ts'
import { type ImportAction, isAllowed } from '#src/model/import-moves.ts'
import type { Limit } from '#src/model/limit.ts'
import { type Html, html } from '../html.ts'
import { type Action, type Confirmation, idOf, NotPossible, type PageRequest } from '../page.ts'
import { capital, foreign } from '../parts/values.ts'
import { importLimitOf } from './import.ts'

/** What a decision about an import is made from. */
export type About = {
  readonly id: bigint
  readonly row: SummaryRow
  /** Null if this worker does not know the account. */
  readonly limit: Limit | null
  readonly request: PageRequest
}

/** A confirmation as it was sent, with what of the import was seen when it was made. */
type Sent = About & {
  readonly by: ActedBy
  readonly form: URLSearchParams
  readonly seen: string
}

/** One decision about an import, for `importAction`. */
export type ImportDecision = {
  readonly path: string
  /** What it is, after "it cannot be": `paused`. */
  readonly done: string
  /** Which of the decisions of the table it is. */
  readonly action: ImportAction
  /** What will happen, and what the form carries that must still be so when it is sent. Throws `NotPossible`. */
  explain(about: About): Promise<Omit<Confirmation, 'back'>>
  /** Throws `ImportNotFound`, or `ImportRefuses`, also if the import is not as it was seen. */
  carryOut(sent: Sent): Promise<unknown>
}

/**
 * Makes an action of a decision. It is refused if the import is not any more in the state that the confirmation page was
 * about, as when somebody else has decided meanwhile.
 */
export function importAction({ path, done, action, explain, carryOut }: ImportDecision): Action {
  const find = async (request: PageRequest): Promise<About | null> => {
    const id = idOf(request.params.id)
    const row = id === null ? null : await loadSummaryRow(request.reader, id)
    if (id === null || !row) return null
    return { id, row, limit: importLimitOf(request.target, row.account), request }
  }
  const expectPossible = ({ id, row }: About) => {
    if (!isAllowed(action, row))
      throw notPossible(row, `Import ${id} is ${row.status}: it cannot be ${done}.`)
  }
  return {
    path,
    section: 'imports',
    backFrom: ({ id = '' }) => `/imports/${encodeURIComponent(id)}`,
    async confirm(request) {
      const about = await find(request)
      if (!about) return null
      expectPossible(about)
      const { body, ...explained } = await explain(about)
      return {
        ...explained,
        body: html`${body}<input type="hidden" name="seen" value="${seenOf(about.row)}">`,
        back: pathOf(about.row),
      }
    },
    async act(request, by, form) {
      const about = await find(request)
      if (!about) return null
      expectPossible(about)
      try {
        await carryOut({ ...about, form, by, seen: form.get('seen') ?? '' })
      } catch (error) {
        if (!(error instanceof ImportRefuses)) throw error
        throw new NotPossible(capital(error.message), pathOf(about.row), { cause: error })
      }
      return pathOf(about.row)
    },
  }
}

export function notPossible(row: SummaryRow, words: string): NotPossible {
  return new NotPossible(words, pathOf(row))
}

function pathOf({ id }: SummaryRow): string {
  return `/imports/${id}`
}

/** Where its rows go, and from which file. */
export function destination(row: SummaryRow): Html {
  return html`To page <strong>${row.pageId}</strong> of account <strong>${foreign(row.account)}</strong>, by ${foreign(row.method)}, from ${foreign(row.file)}.`
}
