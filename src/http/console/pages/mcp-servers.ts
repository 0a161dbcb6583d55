import { z } from 'zod'
import { number } from '#src/model/counted.ts'
import { type ListedServer, listServers, type ServerFilter } from '#src/reports/mcp-servers.ts'
import { type Html, html } from '../html.ts'
import { type Page, parsedQuery } from '../page.ts'
import { accountFilter, choicesOf } from '../parts/account-filter.ts'
import { filters } from '../parts/filters.ts'
import { CursorText, serverLink, teamLink } from '../parts/mcp.ts'
import { mcpTabs } from '../parts/mcp-tabs.ts'
import { PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { type Column, table } from '../parts/table.ts'
import { badge, foreign, time } from '../parts/values.ts'

const PATH = '/mcp'

/** The states that the platform documents; it may send others. */
const STATUSES = ['enabled', 'disabled'] as const

const Query = z.object({
  account: z.string().optional(),
  name: z.string().max(1_000).optional(),
  team: z
    .string()
    .regex(/^\d{1,20}$/, 'write the number of a team')
    .transform(BigInt)
    .optional(),
  status: z.string().max(200).optional(),
})

/** The current MCP servers by name. */
export const servers: Page = {
  path: PATH,
  section: 'mcp',
  access: 'read',
  async render({ query, reader, target: { accounts, timezone } }) {
    const filter = parsedQuery(query, Query)
    const after = readCursor(query, z.tuple([CursorText, CursorText, CursorText]))
    const found = await listServers(reader, PAGE_ROWS + 1, filter, after)
    const shown = found.slice(0, PAGE_ROWS)
    const last = found.length > PAGE_ROWS ? shown.at(-1) : undefined
    const body = html`${mcpTabs(PATH)}
${filters(PATH, query, [
  accountFilter(accounts, query),
  { name: 'name', label: 'Name', kind: 'text', hint: 'a part of it' },
  { name: 'team', label: 'Team', kind: 'text', hint: 'its number' },
  { name: 'status', label: 'Status', kind: 'choice', choices: choicesOf(STATUSES) },
])}
${table('MCP servers by name', columns(timezone), shown, emptyOf(filter))}
${pager(PATH, query, last ? writeCursor([last.name ?? '', last.account, last.id]) : null)}`
    return { title: 'MCP servers', body }
  },
}

function columns(timezone: string): readonly Column<ListedServer>[] {
  return [
    { head: 'Server', cell: ({ account, id, name }) => serverLink(account, id, name) },
    { head: 'Account', cell: ({ account }) => foreign(account) },
    { head: 'Team', cell: ({ account, team }) => teamLink(account, team) },
    { head: 'Status', cell: ({ status }) => statusOf(status) },
    { head: 'Transport', cell: ({ transport }) => foreign(transport) },
    { head: 'Sign-in', cell: ({ auth }) => foreign(auth) },
    { head: 'Tools', isNumber: true, cell: ({ tools }) => number(tools) },
    { head: 'As it is since', cell: ({ since }) => time(since, timezone) },
  ]
}

function statusOf(status: string | null): Html {
  return status === 'enabled' || status === 'disabled' ? badge('quiet', status) : foreign(status)
}

function emptyOf({ account, name, team, status }: ServerFilter): Html {
  if ([account, name, team, status].some(filter => filter !== undefined)) return html`No server matches.`
  return html`No MCP server is known. <code>ferry sync mcp-servers</code> reads them from the platform.`
}
