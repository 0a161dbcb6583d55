import { DatabaseError } from 'pg'
import { PostgresUnavailable } from '#src/db/outage.ts'
import { cutText, firstOf } from '#src/model/cut-text.ts'
import { tooManyWrong } from '../token-guard.ts'
import { html } from './html.ts'
import type { View } from './page.ts'
import { searchForm } from './parts/search-form.ts'

/** The answer to a request: a page with this content, a redirect, or a file that is made while it is sent. */
export type Answer =
  | ({ readonly status: number } & View)
  | { readonly goTo: string }
  | { readonly file: string; readonly parts: AsyncIterable<string> }

/** A page that says why a request was refused. */
export function refused(status: number, words: string): Answer {
  return { status, title: 'Not done', body: html`<p class="problem">${words}</p>` }
}

/** A page for a browser that is not signed in. A signed-in browser keeps its cookie to itself when it follows a link from another site; from this page it sends it. */
export function needsToken(again: string, isPrinted: boolean): Answer {
  const how = isPrinted
    ? html`<p><code>ferry up</code> prints a new sign-in address at each start. The token is also in the file <code>console-token</code> of its data directory.</p>`
    : null
  const body = html`<p class="problem">The console needs a token. Enter any name, and the token as the password. A script sends it as Authorization: Bearer TOKEN.</p>${how}<p>If you are signed in and followed a link from another site, <a href="${again}">open this page again</a>.</p>`
  return { status: 401, title: 'Sign in', body }
}

export function tooManyTokens(seconds: number): Answer {
  return refused(429, tooManyWrong(seconds))
}

export function usedCode(): Answer {
  const body = html`<p class="problem">This sign-in address was used already, or belongs to an earlier start. <code>ferry up</code> prints a new one at each start.</p><p>Or <a href="/">sign in with the token</a>: enter any name, and as the password the content of the file <code>console-token</code> in Ferry's data directory.</p>`
  return { status: 403, title: 'Not signed in', body }
}

/** A page for an address that cannot be read, such as a filter with a value that does not exist. */
export function wrongAddress(words: string, path: string): Answer {
  const body = html`<p class="problem">${words}</p><p><a class="button" href="${path}">Show all</a></p>`
  return { status: 400, title: 'Wrong address', body }
}

/** A page that says why something was not done, with a link to the thing. */
export function notPossible(words: string, back: string): Answer {
  const body = html`<p class="problem">${words}</p><p><a class="button" href="${back}">Show it as it is now</a></p>`
  return { status: 409, title: 'Not done', body }
}

export function notFound(path: string): Answer {
  const body = html`<p>The address <code>${cutText(path, 200)}</code> is not known here. What it led to may have been removed after its time.</p>
${searchForm(wordsOf(path), 'Search for it')}
<p><a href="/">Go to Now</a></p>`
  return { status: 404, title: 'Not found', body }
}

/** What may be searched for instead of an address that leads nowhere: its last part with a number, or else its last part. */
function wordsOf(path: string): string {
  const parts = path.split('/').filter(part => part !== '')
  const last = parts.findLast(part => /\d/.test(part)) ?? parts.at(-1) ?? ''
  try {
    return firstOf(decodeURIComponent(last), 200)
  } catch {
    return ''
  }
}

export function needsOperate(here: string): Answer {
  const signIn = `/sign-in?${new URLSearchParams({ to: here })}`
  const body = html`<p>This page needs the operate token (<code>FERRY_CONSOLE_TOKEN</code>). <a href="${signIn}">Sign in with it</a>.</p>`
  return { status: 403, title: 'Operate token required', body }
}

/** For somebody whom the proxy has signed in: a token would not be asked for. */
export function needsGroup(actor: string): Answer {
  const words = `${actor} may read, not decide: FERRY_CONSOLE_TRUST_GROUPS says which groups have full access.`
  return refused(403, words)
}

export function notServing(): Answer {
  const body = html`<p class="problem">This worker is starting or stopping. This page retries automatically.</p>`
  return { status: 503, title: 'Unavailable', body, refreshEveryMs: 2_000 }
}

/** Postgres stopped a statement that took too long. */
const QUERY_CANCELED = '57014'

/** A page that could not be read from Postgres. */
export function unreadable(error: unknown): Answer {
  const isLate = error instanceof DatabaseError && error.code === QUERY_CANCELED
  const words = isLate
    ? 'Postgres took longer than two seconds for this page. Add a filter, or try again when the database is less busy.'
    : 'Postgres could not answer. This page retries automatically. The reason is in the log of this worker.'
  return {
    status: 503,
    title: 'Unavailable',
    body: html`<p class="problem">${words}</p>`,
    refreshEveryMs: 5_000,
  }
}

/**
 * A page for a decision at `path`, about the thing at `back`, that failed. What failed half-way may have been carried out; it was
 * not if no connection to Postgres was had, since a decision is the last that an action asks for.
 */
export function failedDecision(error: unknown, path: string, back: string): Answer {
  const audit = html`<a href="/ledger/audit">audit</a>`
  const thing = html`<a href="${back}">its page</a>`
  if (error instanceof PostgresUnavailable && error.wasUnreached) {
    const body = html`<p class="problem">Postgres cannot be reached, so nothing was done. <a href="${path}">Try again</a> once it can be reached: the ${audit} and ${thing} will show the current state. The reason is in the log of this worker.</p>`
    return { status: 503, title: 'Not done', body }
  }
  const body = html`<p class="problem">This failed half-way. It may or may not have been done: check the ${audit} and ${thing} before you <a href="${path}">try again</a>. The reason is in the log of this worker.</p>`
  return { status: 503, title: 'Outcome unknown', body }
}
