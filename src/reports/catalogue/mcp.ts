import type { Report } from '../report.ts'

export const MCP_REPORTS: readonly Report[] = [
  {
    name: 'mcp_tools',
    shows: 'the recorded tools of all MCP servers, by their name',
    of: ['mcp-servers'],
    takes: ['account'],
    query: 'select * from ferry.mcp_tools where ($1::text is null or account = $1)',
    ofNight: 'select * from ferry.mcp_tools_of_night($2) where ($1::text is null or account = $1)',
  },
  {
    name: 'mcp_tool_changes',
    shows: 'tools that a server gained, lost or described otherwise',
    of: ['mcp-servers'],
    takes: ['since', 'account'],
    looksBack: { at: 'versions', days: 7 },
    query: 'select * from ferry.mcp_tool_changes($1) where ($2::text is null or account = $2)',
  },
  {
    name: 'mcp_risk',
    shows: 'what could be a risk in an MCP server, with the reason',
    of: ['mcp-servers'],
    takes: ['account'],
    query: 'select * from ferry.mcp_risk where ($1::text is null or account = $1)',
  },
  {
    name: 'mcp_by_team',
    shows: 'MCP servers and tools of each team',
    of: ['mcp-servers'],
    takes: ['account'],
    query: 'select * from ferry.mcp_by_team where ($1::text is null or account = $1)',
    ofNight: 'select * from ferry.mcp_by_team_of_night($2) where ($1::text is null or account = $1)',
  },
]
