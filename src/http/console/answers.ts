import { DatabaseError } from 'pg'
import { PostgresUnavailable } from '#src/db/outage.ts'
import { html } from './html.ts'
import type { View } from './page.ts'

/** What a request gets: a page with this content, or another place to go to. */
export type Answer = ({ readonly status: number } & View) | { readonly goTo: string }

/** A page that says why there is nothing else. */
export function refused(status: number, words: string): Answer {
  return { status, title: 'Not done', body: html`<p class="problem">${words}</p>` }
}

/** A page for a browser that is not signed in. One that is does not say so when it follows a link of another site, but does from this page. */
export function needsToken(again: string, isPrinted: boolean): Answer {
  const how = isPrinted
    ? html`<p><code>ferry up</code> prints an address that signs in, a new one at each start. The token is also in the file <code>console-token</code> of its data directory.</p>`
    : null
  const body = html`<p class="problem">The console needs a token. Write any name, and the token as the password. A script sends it as Authorization: Bearer.</p>${how}<p>If you are signed in and came from another page, <a href="${again}">open this one again</a>.</p>`
  return { status: 401, title: 'Who are you?', body }
}

export function tooManyTokens(seconds: number): Answer {
  return refused(429, `Too many wrong tokens came from your address. Try again in ${seconds} s.`)
}

export function usedCode(): Answer {
  const body = html`<p class="problem">This address signs in once, and was used, or is of an earlier start. <code>ferry up</code> prints a new one at each start.</p><p>Or <a href="/">sign in with the token</a>: any name, and as the password what is in the file <code>console-token</code> of Ferry's data directory.</p>`
  return { status: 403, title: 'Not signed in', body }
}

/** A page for an address that cannot be read, such as a filter with a value that does not exist. */
export function wrongAddress(words: string, path: string): Answer {
  const body = html`<p class="problem">${words}</p><p><a class="button" href="${path}">Show all</a></p>`
  return { status: 400, title: 'Wrong address', body }
}

/** A page that says why something was not done, and where the thing is that it was about. */
export function notPossible(words: string, back: string): Answer {
  const body = html`<p class="problem">${words}</p><p><a class="button" href="${back}">Look at it</a></p>`
  return { status: 409, title: 'Not done', body }
}

export function notFound(): Answer {
  const body = html`<p>There is nothing at this address. It may have been pruned. <a href="/">See what is now</a>.</p>`
  return { status: 404, title: 'Not found', body }
}

export function needsOperate(here: string): Answer {
  const signIn = `/sign-in?${new URLSearchParams({ to: here })}`
  const body = html`<p>This needs the token that may operate (<code>FERRY_CONSOLE_TOKEN</code>). <a href="${signIn}">Sign in with it</a>.</p>`
  return { status: 403, title: 'Not with this token', body }
}

export function notServing(): Answer {
  const body = html`<p class="problem">This worker is starting or stopping. This page tries again by itself.</p>`
  return { status: 503, title: 'Not now', body, refreshEveryMs: 2_000 }
}

/** Postgres stopped a statement that took too long. */
const QUERY_CANCELED = '57014'

/** A page that could not be read from Postgres. */
export function unreadable(error: unknown): Answer {
  const isLate = error instanceof DatabaseError && error.code === QUERY_CANCELED
  const words = isLate
    ? 'Postgres took longer than two seconds for this page. Narrow it, or try again when the database has less to do.'
    : 'Postgres did not answer as it should. This page tries again by itself. The log of this worker has the reason.'
  return { status: 503, title: 'Not now', body: html`<p class="problem">${words}</p>`, refreshEveryMs: 5_000 }
}

/**
 * A page for a decision at `path`, about the thing at `back`, that failed. What failed half-way may have been carried out; it was
 * not if no connection to Postgres was had, since a decision is the last that an action asks for.
 */
export function failedDecision(error: unknown, path: string, back: string): Answer {
  const audit = html`<a href="/ledger/audit">audit</a>`
  const thing = html`<a href="${back}">the thing itself</a>`
  if (error instanceof PostgresUnavailable && error.wasUnreached) {
    const body = html`<p class="problem">Postgres cannot be reached, so nothing was done. <a href="${path}">Try again</a> once it can be: the ${audit} and ${thing} show then how it is. The log of this worker has the reason.</p>`
    return { status: 503, title: 'Not done', body }
  }
  const body = html`<p class="problem">Something failed while this was done. It may have been done, or not: look at the ${audit} and at ${thing} before you <a href="${path}">try again</a>. The log of this worker has the reason.</p>`
  return { status: 503, title: 'Perhaps done', body }
}
