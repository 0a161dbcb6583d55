import type { Severity } from '#src/reports/mcp-risks.ts'
import { type Html, html } from '../html.ts'
import { narrowed } from '../page.ts'
import { pathOf } from './changes.ts'
import { badge, enabledBadge, foreign, type Tone } from './values.ts'
import { marked, visible } from './visible.ts'

const MAX_NAME_CHARACTERS = 120

/** The name of a server, which leads to its page; its id if it has none. */
export function serverLink(account: string, id: string, name: string | null): Html {
  return html`<a href="${pathOf('mcp-servers', account, id)}">${visible(name || id, MAX_NAME_CHARACTERS)}</a>`
}

/** The name of a tool. */
export function toolName(name: string | null): Html {
  return html`<code>${visible(name, MAX_NAME_CHARACTERS)}</code>`
}

/** A team by its number, which leads to its servers, narrowed by `query` too. The platform tells no names of teams. */
export function teamLink(account: string, team: string | null, query = new URLSearchParams()): Html {
  if (team === null) return html`<span class="none">–</span>`
  const words = team === '0' ? 'the whole account' : `team ${team}`
  return html`<a href="${narrowed('/servers', query, { account, team })}">${marked(words)}</a>`
}

/** Whether a server is enabled, as the platform says it: it may say something else. */
export function statusBadge(status: string | null): Html {
  if (status !== 'enabled' && status !== 'disabled') return foreign(status)
  return enabledBadge(status === 'enabled')
}

const TONES: Readonly<Record<Severity, Tone>> = { high: 'bad', medium: 'warn', low: 'quiet' }

export function severityBadge(severity: Severity): Html {
  return badge(TONES[severity], severity)
}
