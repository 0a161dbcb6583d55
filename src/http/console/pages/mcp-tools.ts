import { z } from 'zod'
import { type ListedTool, listTools } from '#src/reports/mcp-servers.ts'
import { html } from '../html.ts'
import { type Page, parsedQuery } from '../page.ts'
import { accountFilter } from '../parts/account-filter.ts'
import { filters } from '../parts/filters.ts'
import { CursorText, serverLink, toolName } from '../parts/mcp.ts'
import { mcpTabs } from '../parts/mcp-tabs.ts'
import { CursorId, PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { type Column, table } from '../parts/table.ts'
import { foreign } from '../parts/values.ts'
import { visible } from '../parts/visible.ts'

const PATH = '/mcp/tools'

const Query = z.object({ account: z.string().optional(), text: z.string().max(1_000).optional() })

/** The tools of the current servers by their name. */
export const tools: Page = {
  path: PATH,
  section: 'mcp',
  access: 'read',
  async render({ query, reader, target: { accounts } }) {
    const filter = parsedQuery(query, Query)
    const after = readCursor(query, z.tuple([CursorText, CursorText, CursorText, CursorId]))
    const found = await listTools(reader, PAGE_ROWS + 1, filter, after)
    const shown = found.slice(0, PAGE_ROWS)
    const last = found.length > PAGE_ROWS ? shown.at(-1) : undefined
    const isNarrowed = filter.account !== undefined || filter.text !== undefined
    const body = html`${mcpTabs(PATH)}
${filters(PATH, query, [
  accountFilter(accounts, query),
  { name: 'text', label: 'Name or description', kind: 'text', hint: 'a part of it' },
])}
${table('Tools by name', COLUMNS, shown, isNarrowed ? html`No tool matches.` : html`No tool is recorded. A server lists its tools once somebody has connected it.`)}
${pager(PATH, query, last ? writeCursor([last.tool ?? '', last.account, last.id, last.position]) : null)}`
    return { title: 'MCP: tools', body }
  },
}

const COLUMNS: readonly Column<ListedTool>[] = [
  { head: 'Tool', cell: ({ tool }) => toolName(tool) },
  { head: 'Server', cell: ({ account, id, server }) => serverLink(account, id, server) },
  { head: 'Account', cell: ({ account }) => foreign(account) },
  { head: 'Description', cell: ({ description }) => visible(description) },
]
