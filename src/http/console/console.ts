import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { listImportedAccounts } from '#src/imports/reporting/summary.ts'
import { isSyncedAccount } from '#src/inventory/known-accounts.ts'
import type { TrustedProxy } from '#src/model/settings.ts'
import { EVERY_ACCOUNT } from '#src/schedules/definition.ts'
import type { AnswerUnreadable } from '../listener.ts'
import type { TokenGuard } from '../token-guard.ts'
import type { Tokens } from './access.ts'
import { Answerer } from './answerer.ts'
import { notFound } from './answers.ts'
import { serveAssets } from './assets.ts'
import { createForms } from './forms.ts'
import { type Html, html } from './html.ts'
import type { PageRequest } from './page.ts'
import { ACTIONS, LOOKUPS, PAGES } from './pages.ts'
import type { OneTimeCode } from './sign-in.ts'
import type { ConsoleTarget } from './target.ts'

/*
 * Pages for people, rendered here from Postgres:
 *
 *     request ─► host allowed? ─► who asks? ──► GET: a page, or the confirmation of an action
 *                (listener.ts)    (answerer.ts) POST: same origin? form token? ─► the action ─► 303 to what became of it
 *                                               (forms.ts)                    └► a lookup: a page with what was found
 *
 * The one cookie says who signed in; nothing is kept of it here. The only script and styles are those of assets/.
 */

export type ConsoleOptions = {
  readonly tokens: Tokens
  readonly code: OneTimeCode | null
  readonly proxy: TrustedProxy | null
  readonly guard: TokenGuard
  readonly log: Logger
  /** Null while the worker starts or stops. */
  target(): ConsoleTarget | null
}

/**
 * Adds the console to a server: its pages, its forms, and what they look like. Returns what answers a browser whose path
 * cannot be read.
 */
export function serveConsole(app: FastifyInstance, options: ConsoleOptions): AnswerUnreadable {
  const answerer = new Answerer({ ...options, assets: serveAssets(app) })
  const answer = answerer.answer.bind(answerer)
  const forms = createForms(options.tokens.operate)
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  )

  for (const page of PAGES) {
    app.get(page.path, (request, reply) =>
      answer(request, reply, page, async asked => {
        const view = await page.render(asked)
        if (!view) return notFound(asked.path)
        const notice = await unknownAccountNotice(asked)
        return { status: 200, ...view, ...(notice && { body: html`${notice}${view.body}` }) }
      }),
    )
  }
  for (const page of PAGES) {
    const { csv } = page
    if (!csv) continue
    app.get(`${page.path}.csv`, (request, reply) =>
      answer(request, reply, page, async asked => ({
        file: `${page.path.slice(1).replaceAll('/', '-')}.csv`,
        parts: await begun(csv(asked)),
      })),
    )
  }
  for (const action of ACTIONS) {
    const { section, backFrom } = action
    const place = { section, access: 'operate', backFrom } as const
    app.get(action.path, (request, reply) =>
      answer(request, reply, place, asked => forms.confirm(action, asked)),
    )
    app.post(action.path, (request, reply) =>
      answer(request, reply, place, asked => forms.carryOut(action, asked, request)),
    )
  }
  for (const lookup of LOOKUPS) {
    const place = { section: lookup.section, access: 'operate' } as const
    app.get(lookup.path, (request, reply) => answer(request, reply, place, asked => forms.ask(lookup, asked)))
    app.post(lookup.path, (request, reply) =>
      answer(request, reply, place, asked => forms.look(lookup, asked, request)),
    )
  }
  // Where the servers were listed before `/servers` was, and what is left of `/mcp/tools` without its last part.
  app.get('/mcp', (request, reply) =>
    answer(request, reply, { section: 'mcp', access: 'read' }, async () => ({
      goTo: `/servers${new URL(request.url, 'http://console').search}`,
    })),
  )
  app.get('/sign-in', (request, reply) => answerer.signIn(request, reply))
  // A script that asks for something unknown is answered in JSON, as without a console.
  const answerBrowser: AnswerUnreadable = (request, reply) => {
    if (!request.headers.accept?.includes('text/html')) return null
    return answer(request, reply, { section: null, access: 'read' }, async ({ path }) => notFound(path))
  }
  app.get('/*', (request, reply) => answerBrowser(request, reply) ?? reply.callNotFound())
  return answerBrowser
}

/** Returns the parts once the first one is there: if it cannot be read, a page can still say so. */
async function begun(parts: AsyncGenerator<string>): Promise<AsyncIterable<string>> {
  const first = await parts.next()
  return (async function* () {
    if (first.done) return
    yield first.value
    yield* parts
  })()
}

/**
 * Says so if the address asks for an account that is neither configured here nor in what was stored: an empty list would
 * look as if it had nothing. Null otherwise.
 */
async function unknownAccountNotice({ query, reader, target }: PageRequest): Promise<Html | null> {
  const asked = query.get('account')
  if (!asked || asked.includes('\0') || asked === EVERY_ACCOUNT || target.accounts.includes(asked))
    return null
  if (await isSyncedAccount(reader, asked)) return null
  if ((await listImportedAccounts(reader)).includes(asked)) return null
  return html`<p class="notice warn">No account is named <bdi>${asked}</bdi>.</p>`
}
