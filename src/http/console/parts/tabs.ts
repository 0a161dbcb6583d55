import { type Html, html } from '../html.ts'

/** A link to a page, or to another part of a list. */
export type Tab = {
  readonly to: string
  readonly words: string
  readonly isHere: boolean
  readonly beside?: Html
}

/** Links between pages that belong together. */
export function tabs(label: string, links: readonly Tab[]): Html {
  return html`<nav aria-label="${label}"><ul class="tabs">${links.map(
    ({ to, words, isHere, beside }) =>
      html`<li><a href="${to}"${isHere ? html` aria-current="page"` : null}>${words}</a>${beside}</li>`,
  )}</ul></nav>`
}

function pageTabs(label: string, names: Readonly<Record<string, string>>, here: string): Html {
  return tabs(
    label,
    Object.entries(names).map(([to, words]) => ({ to, words, isHere: to === here })),
  )
}

/** The pages of the ledger. */
const LEDGER_TABS = {
  '/ledger': 'Runs',
  '/ledger/calls': 'Calls',
  '/ledger/schedules': 'Schedules',
  '/ledger/snapshots': 'Snapshots',
  '/ledger/holds': 'Holds',
  '/ledger/events': 'Notifications',
  '/ledger/audit': 'Audit',
} as const

/** The links between the pages of the ledger. */
export function ledgerTabs(here: keyof typeof LEDGER_TABS): Html {
  return pageTabs('Activity', LEDGER_TABS, here)
}

/** The pages about MCP servers. */
const MCP_TABS = {
  '/servers': 'Servers',
  '/mcp/tools': 'Tools',
  '/mcp/changes': 'Tool changes',
  '/mcp/risks': 'Risks',
  '/mcp/teams': 'Teams',
} as const

/** The links between the pages about MCP servers. */
export function mcpTabs(here: keyof typeof MCP_TABS): Html {
  return pageTabs('MCP', MCP_TABS, here)
}
