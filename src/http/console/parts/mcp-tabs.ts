import { type Html, html } from '../html.ts'

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
  return html`<nav aria-label="MCP"><ul class="tabs">${Object.entries(MCP_TABS).map(
    ([path, name]) =>
      html`<li><a href="${path}"${path === here ? html` aria-current="page"` : null}>${name}</a></li>`,
  )}</ul></nav>`
}
