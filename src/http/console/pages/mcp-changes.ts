import { ACCOUNT_OF_PAGE, list, partOf, SINCE_AND_UNTIL } from '#src/db/list.ts'
import { number } from '#src/model/counted.ts'
import { listToolChanges, type ServerChange, type ToolChange } from '#src/reports/mcp-tool-changes.ts'
import { type Html, html } from '../html.ts'
import { pathOf } from '../parts/changes.ts'
import { historyNote } from '../parts/history-note.ts'
import { listPage } from '../parts/list-page.ts'
import { serverLink, toolName } from '../parts/mcp.ts'
import { observed } from '../parts/runs.ts'
import { mcpTabs } from '../parts/tabs.ts'
import { badge, type Tone } from '../parts/values.ts'
import { marked, visible } from '../parts/visible.ts'
import { wordDiff } from '../parts/word-diff.ts'

const PATH = '/mcp/changes'

/** Each has several changes, each with two descriptions. */
const PAGE_SERVERS = 20
/** The most tools shown of one server; its own page shows all. */
const SHOWN_TOOLS = 8

/** What changed in the tools of servers, the newest first. */
const TOOL_CHANGES = list({
  caption: 'Servers whose tools changed, newest first',
  filters: { account: ACCOUNT_OF_PAGE, ...SINCE_AND_UNTIL },
  order: ['instant', 'text', 'text'],
  async load(pool, { filter, after, limit }) {
    const found = await listToolChanges(pool, limit + 1, filter, after)
    return partOf(found, limit, ({ exactly, account, id }) => [exactly, account, id])
  },
  columns: {
    observed: row => row.at,
    server: row => row.server,
    id: row => row.id,
    account: row => row.account,
    tools: row => row.tools.map(({ tool, change }) => `${tool} ${change}`).join(', '),
  },
  none: 'No tool of a known server has changed.',
  noneMatches: 'No tool of a known server has changed.',
})

export const mcpChanges = listPage({
  path: PATH,
  section: 'mcp',
  title: 'MCP: tool changes',
  rows: PAGE_SERVERS,
  list: () => TOOL_CHANGES,
  beside: async ({ reader, target: { timezone } }, { next, filter }) => ({
    above: html`${mcpTabs(PATH)}
<p>A model reads the description of a tool as instructions. Check what was added.</p>`,
    columns: [
      {
        head: 'Observed',
        cell: row => observed(row, timezone),
      },
      {
        head: 'Server',
        cell: ({ account, id, server }) =>
          html`<span>${serverLink(account, id, server)}<br><small>in <bdi>${account}</bdi></small></span>`,
      },
      { head: 'Old to new', cell: toolsOf },
    ],
    below: next ? null : await historyNote(reader, filter.since, timezone),
    empty: html`${TOOL_CHANGES.none} New and removed servers are under <a href="/changes">Changes</a>.`,
  }),
})

function toolsOf({ account, id, tools }: ServerChange): Html {
  if (tools.length === 0) return html`<span class="none">only the order of its tools</span>`
  const rest = tools.length - SHOWN_TOOLS
  return html`<div><dl class="tool-changes">${tools.slice(0, SHOWN_TOOLS).map(tool => html`<div><dt>${badge(TONES[tool.change], tool.change)} ${toolName(tool.tool)}</dt><dd>${descriptionOf(tool)}</dd></div>`)}</dl>${
    rest > 0
      ? html`<a href="${pathOf('mcp-servers', account, id)}">${number(rest)} more of this server</a>`
      : null
  }</div>`
}

const TONES: Readonly<Record<ToolChange['change'], Tone>> = {
  added: 'good',
  removed: 'bad',
  'description changed': 'warn',
}

function descriptionOf({ change, before, after }: ToolChange): Html {
  if (change !== 'description changed') return visible(change === 'added' ? after : before)
  return wordDiff(before ?? '', after ?? '', marked)
}
