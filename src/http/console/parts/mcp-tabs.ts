import type { Html } from '../html.ts'
import { tabs } from './tabs.ts'

/** The pages about MCP servers. */
const MCP_TABS = {
  '/mcp': 'Servers',
  '/mcp/tools': 'Tools',
  '/mcp/changes': 'Changes of tools',
  '/mcp/risks': 'Risks',
  '/mcp/teams': 'Teams',
} as const

/** The links between the pages about MCP servers. */
export function mcpTabs(here: keyof typeof MCP_TABS): Html {
  return tabs('MCP', MCP_TABS, here)
}
