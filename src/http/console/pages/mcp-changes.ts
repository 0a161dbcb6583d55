import { z } from 'zod'
import { number } from '#src/model/counted.ts'
import { listToolChanges, type ServerChange, type ToolChange } from '#src/reports/mcp-tool-changes.ts'
import { type Html, html } from '../html.ts'
import type { Page } from '../page.ts'
import { accountFilter } from '../parts/account-filter.ts'
import { pathOf } from '../parts/changes.ts'
import { filters, sinceAndUntil } from '../parts/filters.ts'
import { parsedSpan, zoneOf } from '../parts/instants.ts'
import { CursorText, serverLink, toolName } from '../parts/mcp.ts'
import { mcpTabs } from '../parts/mcp-tabs.ts'
import { CursorInstant, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { runLink } from '../parts/runs.ts'
import { type Column, table } from '../parts/table.ts'
import { badge, type Tone, time } from '../parts/values.ts'
import { marked, visible } from '../parts/visible.ts'
import { wordDiff } from '../parts/word-diff.ts'

const PATH = '/mcp/changes'

/** Each has several changes, each with two descriptions. */
const PAGE_SERVERS = 20
/** Of one server so many are shown; its own page shows all of its tools. */
const SHOWN_TOOLS = 8

/** What changed in the tools of servers, the newest first. */
export const changes: Page = {
  path: PATH,
  section: 'mcp',
  access: 'read',
  async render({ query, reader, target: { accounts, timezone } }) {
    const zone = zoneOf(query, timezone)
    const filter = parsedSpan(query, zone, z.object({ account: z.string().optional() }))
    const after = readCursor(query, z.tuple([CursorInstant, CursorText, CursorText]))
    const found = await listToolChanges(reader, PAGE_SERVERS + 1, filter, after)
    const shown = found.slice(0, PAGE_SERVERS)
    const last = found.length > PAGE_SERVERS ? shown.at(-1) : undefined
    const body = html`${mcpTabs(PATH)}
<p>A model reads the description of a tool as an instruction. Look at what came into one.</p>
${filters(PATH, query, [accountFilter(accounts, query), ...sinceAndUntil(zone)])}
${table('Servers whose tools changed, the newest first', columns(timezone), shown, html`No tool of a known server has changed. Servers that are new or gone are under <a href="/changes">Changes</a>.`)}
${pager(PATH, query, last ? writeCursor([last.exactly, last.account, last.id]) : null)}`
    return { title: 'MCP: changes of tools', body }
  },
}

function columns(timezone: string): readonly Column<ServerChange>[] {
  return [
    {
      head: 'Observed',
      cell: ({ at, run }) =>
        html`<span>${time(at, timezone)}<br><small>${runLink(run, `run ${run}`)}</small></span>`,
    },
    {
      head: 'Server',
      cell: ({ account, id, server }) =>
        html`<span>${serverLink(account, id, server)}<br><small>in <bdi>${account}</bdi></small></span>`,
    },
    { head: 'Old to new', cell: toolsOf },
  ]
}

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
