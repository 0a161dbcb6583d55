import { z } from 'zod'
import { number } from '#src/model/counted.ts'
import { listRisks, RISK_REASONS, type Risk, type RiskReason } from '#src/reports/mcp-risks.ts'
import { type Html, html } from '../html.ts'
import { href, type Page, parsedQuery } from '../page.ts'
import { accountFilter, choicesOf } from '../parts/account-filter.ts'
import { filters } from '../parts/filters.ts'
import { CursorText, serverLink, teamLink, toolName } from '../parts/mcp.ts'
import { mcpTabs } from '../parts/mcp-tabs.ts'
import { PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { type Column, table } from '../parts/table.ts'
import { foreign } from '../parts/values.ts'
import { visible } from '../parts/visible.ts'

const PATH = '/mcp/risks'

const Query = z.object({ account: z.string().optional(), reason: z.enum(RISK_REASONS).optional() })

/** What each reason means for people. */
const MEANINGS: Readonly<Record<RiskReason, string>> = {
  'invisible characters':
    'A name or a description has characters that nobody sees. They can hide instructions for a model from people.',
  'no https': 'What goes to the server and comes back can be read and changed on the way.',
  'tool deletes': 'By its name, a tool deletes something.',
  'tool writes': 'By its name, a tool changes something.',
  'shared credentials': 'Everybody who uses the server acts with the same credentials.',
  'name used twice': 'Servers of one account have the same name: one can be taken for another.',
  'tool name used twice': 'A server has two tools of the same name: a model may take the wrong one.',
  'disabled but listed': 'The server is disabled. It may no longer be needed.',
}

/** What could be a risk in the current servers, with the reason. */
export const risks: Page = {
  path: PATH,
  section: 'mcp',
  access: 'read',
  async render({ query, reader, target: { accounts } }) {
    const filter = parsedQuery(query, Query)
    const after = readCursor(
      query,
      z.tuple([CursorText, CursorText, CursorText, CursorText, CursorText, CursorText]),
    )
    const { risks: found, counts } = await listRisks(reader, PAGE_ROWS + 1, filter, after)
    const shown = found.slice(0, PAGE_ROWS)
    const last = found.length > PAGE_ROWS ? shown.at(-1) : undefined
    const body = html`${mcpTabs(PATH)}
<h2>Reasons</h2>
${reasons(counts, filter.account)}
<h2>Servers</h2>
${filters(PATH, query, [
  accountFilter(accounts, query),
  { name: 'reason', label: 'Reason', kind: 'choice', choices: choicesOf(RISK_REASONS) },
])}
${table('Possible risks by server', COLUMNS, shown, html`Nothing was found that could be a risk. Ferry looked at the <a href="/mcp">servers that it knows</a>.`)}
${pager(PATH, query, last ? writeCursor([last.server ?? '', last.account, last.id, last.reason, last.tool ?? '', last.detail ?? '']) : null)}`
    return { title: 'MCP: risks', body }
  },
}

function reasons(counts: ReadonlyMap<string, number>, account: string | undefined): Html {
  return table(
    'How many there are of each',
    [
      {
        head: 'Reason',
        cell: ({ reason }) => html`<a href="${href(PATH, { account, reason })}">${reason}</a>`,
      },
      { head: 'Found', isNumber: true, cell: ({ count }) => number(count) },
      { head: 'Meaning', cell: ({ reason }) => html`<span>${MEANINGS[reason]}</span>` },
    ],
    RISK_REASONS.flatMap(reason => {
      const count = counts.get(reason)
      return count === undefined ? [] : [{ reason, count }]
    }),
    html`No current server has any.`,
  )
}

const COLUMNS: readonly Column<Risk>[] = [
  { head: 'Server', cell: ({ account, id, server }) => serverLink(account, id, server) },
  { head: 'Account', cell: ({ account }) => foreign(account) },
  { head: 'Team', cell: ({ account, team }) => teamLink(account, team) },
  { head: 'Reason', cell: ({ reason }) => reason },
  { head: 'Tool', cell: ({ tool }) => (tool === null ? foreign(null) : toolName(tool)) },
  { head: 'Found', cell: ({ detail }) => visible(detail) },
]
