import type { InventoryRow } from '#src/inventory/history/list-inventory.ts'
import { findHoldOfRow } from '#src/inventory/holds/list-holds.ts'
import { number } from '#src/model/counted.ts'
import { listRisksOfServer, type OfReason } from '#src/reports/mcp-risks.ts'
import { type Html, html } from '../html.ts'
import { href, type Page } from '../page.ts'
import { pathOf } from '../parts/changes.ts'
import { historyNote } from '../parts/history-note.ts'
import { fieldFacts, loadRow, notesOn, textOf, titleOf } from '../parts/inventory-row.ts'
import { severityBadge, statusBadge, toolName } from '../parts/mcp.ts'
import { pager, readCursor } from '../parts/paging.ts'
import { facts, table } from '../parts/table.ts'
import { loadTimeline, TimelineCursor, timelineTable } from '../parts/timeline.ts'
import { ago, badge } from '../parts/values.ts'
import { marked, visible } from '../parts/visible.ts'
import { pathOf as pathOfHold } from './holds.ts'

/** An MCP server as it is, its tools, and all that happened to it: also of one that is gone. */
export const server: Page = {
  path: '/servers/:account/:id',
  section: 'mcp',
  access: 'read',
  async render({ params, query, reader, target: { timezone } }) {
    const after = readCursor(query, TimelineCursor)
    const row = await loadRow(reader, 'mcp-servers', params)
    if (!row) return null
    const { account, id } = { account: row.account, id: `${row.server_id}` }
    const inventory = { account, resource: 'mcp-servers' } as const
    const [timeline, hold, risks] = await Promise.all([
      loadTimeline(reader, { ...inventory, id }, after),
      findHoldOfRow(reader, inventory, id),
      listRisksOfServer(reader, account, id),
    ])
    const title = titleOf(textOf(row.server_name), id)
    return {
      title,
      heading: marked(title),
      body: html`<p class="quiet">MCP server <bdi>${marked(id)}</bdi> of account <bdi>${account}</bdi></p>
${notesOn(row, hold && pathOfHold(hold), timezone)}
${factsOf(row, risks, timezone)}
${toolsTable(row.tools)}
<h2>History</h2>
${timelineTable(timeline, timezone)}
${timeline.next ? null : await historyNote(reader, undefined, timezone)}
${pager(pathOf('mcp-servers', account, id), query, timeline.next)}`,
    }
  },
}

function factsOf(row: InventoryRow, risks: readonly OfReason[], timezone: string): Html {
  return facts([
    ['State', stateOf(row)],
    ['Risks', risksOf(risks, row.account)],
    ...fieldFacts('mcp-servers', row, {
      url: visible(textOf(row.url), MAX_DESCRIPTION_CHARACTERS),
      description: visible(textOf(row.description), MAX_DESCRIPTION_CHARACTERS),
    }),
    ['This version since', ago(row.valid_from as Date, timezone)],
  ])
}

function stateOf(row: InventoryRow): Html {
  if (row.valid_to instanceof Date) return badge('bad', 'removed')
  return statusBadge(textOf(row.status))
}

function risksOf(risks: readonly OfReason[], account: string): Html {
  if (risks.length === 0) return html`none found`
  return html`<span class="choices">${risks.map(
    ({ reason, severity, risks }) =>
      html`<span>${severityBadge(severity)} <a href="${href('/mcp/risks', { account, reason })}">${reason}${risks > 1 ? ` (${risks})` : null}</a></span>`,
  )}</span>`
}

/** The most tools on a page, and the most characters of each description. */
const MAX_TOOLS = 100
const MAX_DESCRIPTION_CHARACTERS = 400

type Tool = { readonly name?: unknown; readonly description?: unknown }

function toolsTable(given: unknown): Html {
  const tools: readonly Tool[] = Array.isArray(given) ? given : []
  const rest = tools.length - MAX_TOOLS
  return html`<h2>Tools</h2>
${table(
  `Recorded tools: ${number(tools.length)}`,
  [
    { head: 'Tool', cell: tool => toolName(textOf(tool.name)) },
    {
      head: 'What it does',
      cell: tool => visible(textOf(tool.description), MAX_DESCRIPTION_CHARACTERS),
    },
  ],
  tools.slice(0, MAX_TOOLS),
  html`No tools recorded.`,
)}
${rest > 0 ? html`<p class="quiet">and ${number(rest)} more: <code>ferry servers show</code> shows all.</p>` : null}`
}
