import { SERVERS, TEAMS, TOOLS } from '#src/reports/mcp-servers.ts'
import type { Html } from '../html.ts'
import { listPage } from '../parts/list-page.ts'
import { serverLink, teamLink, toolName } from '../parts/mcp.ts'
import { mcpTabs } from '../parts/tabs.ts'
import { badge, foreign } from '../parts/values.ts'
import { visible } from '../parts/visible.ts'

/** The current MCP servers. */
export const servers = listPage({
  path: '/mcp',
  section: 'mcp',
  title: 'MCP servers',
  list: () => SERVERS,
  beside: () => ({
    above: mcpTabs('/mcp'),
    columns: [
      { head: 'Server', cell: ({ account, id, name }) => serverLink(account, id, name) },
      'account',
      { head: 'Team', cell: ({ account, team }) => teamLink(account, team) },
      { head: 'Status', cell: ({ status }) => statusOf(status) },
      'transport',
      'sign-in',
      'tools',
      'unchanged since',
    ],
  }),
})

function statusOf(status: string | null): Html {
  return status === 'enabled' || status === 'disabled' ? badge('quiet', status) : foreign(status)
}

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
