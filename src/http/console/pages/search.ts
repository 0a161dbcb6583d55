import { z } from 'zod'
import { RULE_LIST, SERVER_LIST } from '#src/inventory/history/inventory-lists.ts'
import { type Hit, search } from '#src/reports/search.ts'
import { type Html, type HtmlValue, html } from '../html.ts'
import { href, type Page, parsedQuery } from '../page.ts'
import { pathOf } from '../parts/changes.ts'
import { textOf } from '../parts/inventory-row.ts'
import { table } from '../parts/table.ts'
import { ago, foreign } from '../parts/values.ts'
import { marked, visible } from '../parts/visible.ts'

/** Of each kind. */
const MAX_FOUND = 10

const Asked = z.object({ q: z.string().trim().max(200).default('') })

/** What has this id or request id, then what has these words. */
export const searchPage: Page = {
  path: '/search',
  section: 'now',
  access: 'read',
  async render({ query, reader, target: { timezone } }) {
    const { q } = parsedQuery(query, Asked)
    if (q === '') return { title: 'Search', body: html`<p>${HOW}</p>` }
    const wanted = { filter: { words: q }, after: null, limit: MAX_FOUND }
    const [hits, rules, servers] = await Promise.all([
      search(reader, q, MAX_FOUND),
      RULE_LIST.load(reader, wanted),
      SERVER_LIST.load(reader, wanted),
    ])
    const exact = hits.filter(({ isExact }) => isExact)
    const byWords: Found[] = [
      ...rules.rows.map(row => found('rule', row.account, textOf(row.id), textOf(row.name), row.valid_from)),
      ...servers.rows.map(row =>
        found('server', row.account, textOf(row.server_id), textOf(row.server_name), row.valid_from),
      ),
      ...hits.filter(({ isExact }) => !isExact),
    ]
    return {
      title: `Search: ${q}`,
      heading: html`Search: ${foreign(q)}`,
      body: html`${exact.length > 0 ? foundTable('With exactly this id', exact, timezone) : null}
${foundTable('With these words', byWords, timezone)}
${rules.next ? html`<p><a href="${href('/rules', { words: q })}">All rules with these words</a></p>` : null}
${servers.next ? html`<p><a href="${href('/servers', { words: q })}">All servers with these words</a></p>` : null}`,
    }
  },
}

type Found = Omit<Hit, 'isExact'>

function found(
  kind: Hit['kind'],
  account: string,
  id: string | null,
  name: string | null,
  at: unknown,
): Found {
  return { kind, account, id: id ?? '', name, at: at as Date }
}

function foundTable(caption: string, rows: readonly Found[], timezone: string): Html {
  return table(
    caption,
    [
      { head: 'What', cell: ({ kind }) => KINDS[kind] },
      { head: 'Name', cell: hit => html`<a href="${placeOf(hit)}">${nameOf(hit)}</a>` },
      { head: 'Id', cell: ({ id }) => html`<bdi>${marked(id)}</bdi>` },
      { head: 'Account', cell: ({ account }) => foreign(account) },
      { head: 'Since', cell: ({ at }) => ago(at, timezone) },
    ],
    rows,
    html`Nothing found. ${HOW}`,
  )
}

const KINDS = {
  rule: 'alert rule',
  server: 'MCP server',
  import: 'import',
  run: 'run',
  call: 'call',
} as const

function nameOf({ kind, id, name }: Found): HtmlValue {
  return kind === 'server' ? visible(name || id) : foreign(name || id)
}

function placeOf({ kind, account, id }: Found): string {
  switch (kind) {
    case 'rule':
      return pathOf('alert-rules', account, id)
    case 'server':
      return pathOf('mcp-servers', account, id)
    case 'import':
      return `/imports/${id}`
    case 'run':
      return `/ledger/runs/${id}`
    case 'call':
      return href('/ledger/calls', { request_id: id })
  }
}

const HOW = html`Type a whole id: of a rule, a server, an import, a run or a request. Or type words: of a rule's name or labels, of a server's name, description or address, of an import's file. A removed rule is found by its id.`
