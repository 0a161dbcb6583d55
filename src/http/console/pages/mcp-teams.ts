import { z } from 'zod'
import { number } from '#src/model/counted.ts'
import { listTeams, type TeamRow } from '#src/reports/mcp-servers.ts'
import { html } from '../html.ts'
import type { Page } from '../page.ts'
import { CursorText, teamLink } from '../parts/mcp.ts'
import { mcpTabs } from '../parts/mcp-tabs.ts'
import { PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { type Column, table } from '../parts/table.ts'
import { foreign, time } from '../parts/values.ts'

const PATH = '/mcp/teams'

const Cursor = z.tuple([z.int().min(0).max(2_147_483_647), CursorText, z.string().regex(/^-?\d{1,20}$/)])

/** The teams that own servers, those with the most first. */
export const teams: Page = {
  path: PATH,
  section: 'mcp',
  access: 'read',
  async render({ query, reader, target: { timezone } }) {
    const found = await listTeams(reader, PAGE_ROWS + 1, readCursor(query, Cursor))
    const shown = found.slice(0, PAGE_ROWS)
    const last = found.length > PAGE_ROWS ? shown.at(-1) : undefined
    const body = html`${mcpTabs(PATH)}
${table('Teams, those with the most servers first', columns(timezone), shown, html`No MCP server is known. <code>ferry sync mcp-servers</code> reads them from the platform.`)}
${pager(PATH, query, last ? writeCursor([last.servers, last.account, last.team ?? '-1']) : null)}`
    return { title: 'MCP: teams', body }
  },
}

function columns(timezone: string): readonly Column<TeamRow>[] {
  return [
    { head: 'Team', cell: ({ account, team }) => teamLink(account, team) },
    { head: 'Account', cell: ({ account }) => foreign(account) },
    { head: 'Servers', isNumber: true, cell: ({ servers }) => number(servers) },
    { head: 'Enabled', isNumber: true, cell: ({ enabled }) => number(enabled) },
    { head: 'Tools', isNumber: true, cell: ({ tools }) => number(tools) },
    { head: 'Shared sign-in', isNumber: true, cell: ({ shared }) => number(shared) },
    { head: 'Last change', cell: ({ lastChange }) => time(lastChange, timezone) },
  ]
}
