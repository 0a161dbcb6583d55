import type { ChangeKind } from '#src/inventory/history/change-kinds.ts'
import type { ChangeRow } from '#src/inventory/history/change-row.ts'
import { CHANGE_LIST } from '#src/inventory/history/changes-list.ts'
import type { FirstRead } from '#src/inventory/history/compare-page.ts'
import { counted } from '#src/model/counted.ts'
import { NOUNS, type Resource } from '#src/model/resource.ts'
import { type Html, html } from '../html.ts'
import { badge, foreign, type Tone } from './values.ts'
import { marked, visible } from './visible.ts'

const TONES: Readonly<Record<ChangeKind, Tone>> = {
  added: 'good',
  changed: 'quiet',
  removed: 'bad',
  returned: 'warn',
  'first reading': 'quiet',
}

export function changeBadge(change: ChangeKind): Html {
  return badge(TONES[change], change)
}

/** A person's name, which leads to where `pathBy` says; as it is if changes cannot be filtered by it, being blank or too long. */
export function personLink(name: string, pathBy: (by: string) => string): Html {
  return name.trim() === '' || name.length > MAX_BY_CHARACTERS
    ? foreign(name)
    : html`<a class="person" href="${pathBy(name)}">${foreign(name)}</a>`
}

const MAX_BY_CHARACTERS = CHANGE_LIST.filters.by.max

/** The page of a rule or server. */
export function pathOf(resource: Resource, account: string, id: string): string {
  return `/${resource === 'alert-rules' ? 'rules' : 'servers'}/${encodeURIComponent(account)}/${encodeURIComponent(id)}`
}

/** A name in an inventory. What is invisible has marks if it is that of an MCP server. */
export function nameIn(resource: Resource, name: string | null, missing?: string): Html {
  return resource === 'alert-rules' || !name?.trim() ? foreign(name, missing) : visible(name)
}

/** Its name, which leads to its page, and what it is. */
export function inventoryLink(row: {
  readonly resource: Resource
  readonly account: string
  readonly id: string
  readonly name: string | null
}): Html {
  const { resource, account, id, name } = row
  return html`<span><a href="${pathOf(resource, account, id)}">${nameIn(resource, name || id)}</a><br><small>${NOUNS[resource]} <bdi>${marked(id)}</bdi> in <bdi>${account}</bdi></small></span>`
}

/** What a change is of: a rule or server, or all that a first reading found. */
export function changedLink(row: ChangeRow): Html {
  if (row.rows === null) return inventoryLink(row)
  return firstReadEntry(row.resource, { rows: row.rows, accounts: [row.account] })
}

/** All that first readings found; `all` leads to a list of it. */
export function firstReadEntry(
  resource: Resource,
  { rows, accounts: [account, ...others] }: FirstRead,
  all?: string,
): Html {
  const many = counted(rows, NOUNS[resource])
  return html`<span>${all ? html`<a href="${all}">${many}</a>` : many}<br><small>in <bdi>${account}</bdi>${others.length > 0 ? ` and ${counted(others.length, 'other account')}` : null}: existed before the first reading</small></span>`
}
