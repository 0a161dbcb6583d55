import { SERVER_LIST } from '#src/inventory/history/inventory-lists.ts'
import { suggest } from '#src/inventory/history/known-words.ts'
import { TEAMS, TOOLS } from '#src/reports/mcp-servers.ts'
import { textOf } from '../parts/inventory-row.ts'
import { listPage } from '../parts/list-page.ts'
import { serverLink, statusBadge, teamLink, toolName } from '../parts/mcp.ts'
import { mcpTabs } from '../parts/tabs.ts'
import { visible } from '../parts/visible.ts'
import { momentNote } from './rules.ts'

const PATH = '/servers'

/** The MCP servers, as they are or were at a moment. */
export const servers = listPage({
  path: PATH,
  section: 'mcp',
  title: 'MCP servers',
  list: () => SERVER_LIST,
  beside: async (request, { filter }) => ({
    above: mcpTabs(PATH),
    between: await momentNote(request, 'mcp-servers', filter.asOf),
    suggest: () => suggest(request.reader, 'mcp-servers', filter),
    columns: [
      {
        head: 'Server',
        cell: row => serverLink(row.account, `${row.server_id}`, textOf(row.server_name)),
      },
      'account',
      { head: 'Team', cell: row => teamLink(row.account, textOf(row.team_id), request.query) },
      { head: 'State', cell: row => statusBadge(textOf(row.status)) },
      'transport',
      'sign-in',
      'tools',
      'unchanged since',
    ],
  }),
})

/** Their tools. */
export const tools = listPage({
  path: '/mcp/tools',
  section: 'mcp',
  title: 'MCP: tools',
  list: () => TOOLS,
  beside: () => ({
    above: mcpTabs('/mcp/tools'),
    columns: [
      { head: 'Tool', cell: ({ tool }) => toolName(tool) },
      { head: 'Server', cell: ({ account, id, server }) => serverLink(account, id, server) },
      'account',
      { head: 'Description', cell: ({ description }) => visible(description) },
    ],
  }),
})

/** The teams that own them. */
export const teams = listPage({
  path: '/mcp/teams',
  section: 'mcp',
  title: 'MCP: teams',
  list: () => TEAMS,
  beside: () => ({
    above: mcpTabs('/mcp/teams'),
    columns: [
      { head: 'Team', cell: ({ account, team }) => teamLink(account, team) },
      'account',
      'servers',
      'enabled',
      'tools',
      'shared sign-in',
      'last change',
    ],
  }),
})
