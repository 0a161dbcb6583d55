import type { Pool } from 'pg'
import { type InventoryRow, loadInventory } from '#src/inventory/history/list-inventory.ts'
import { cutText } from '#src/model/cut-text.ts'
import { DECLARATIONS } from '#src/model/declarations.ts'
import type { Resource } from '#src/model/resource.ts'
import { type Html, type HtmlValue, html } from '../html.ts'
import { foreign, time } from './values.ts'

/** The last version of a rule or server, also if it is gone; null if this account never had it. */
export async function loadRow(
  pool: Pool,
  resource: Resource,
  { account = '', id = '' }: Readonly<Record<string, string>>,
): Promise<InventoryRow | null> {
  if (account.includes('\0') || id.includes('\0')) return null
  if (resource === 'alert-rules' && !/^\d{1,20}$/.test(id)) return null
  const [row] = await loadInventory(pool, resource, id, { account })
  return row ?? null
}

/** A field as text; null if it has no value. */
export function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : `${value}`
}

/** A fact: its label and its value. */
type Fact = readonly [string, HtmlValue]

/** The fields of a row that have a label, in their order. `shown` has the values that are more than text. */
export function fieldFacts(
  resource: Resource,
  row: InventoryRow,
  shown: Readonly<Record<string, HtmlValue>>,
): Fact[] {
  return Object.entries(DECLARATIONS[resource].fields).flatMap(([name, { label, kind }]): Fact[] => {
    if (label === undefined) return []
    return [[label, shown[name] ?? foreign(kind === 'flag' ? inWords(row[name]) : textOf(row[name]))]]
  })
}

function inWords(flag: unknown): string | null {
  return typeof flag === 'boolean' ? (flag ? 'yes' : 'no') : null
}

const MAX_TITLE_CHARACTERS = 120

/** The name, or the id of what has none, short enough for a title. */
export function titleOf(name: string | null, id: string): string {
  return cutText(name?.trim() || id, MAX_TITLE_CHARACTERS)
}

/**
 * What to know before the fields: it is gone, or may be, it breaks the contract, or its text was altered. `hold` leads to the hold
 * that keeps it.
 */
export function notesOn(row: InventoryRow, hold: string | null, timezone: string): Html {
  const { valid_to: goneAt, flags, altered } = row
  return html`${goneAt instanceof Date ? html`<p class="notice warn">It has been gone since ${time(goneAt, timezone)}. Below is its last known state.</p>` : null}
${hold ? html`<p class="notice warn">It is missing from the platform's listing. Its removal waits for a decision: <a href="${hold}">review it</a>.</p>` : null}
${Array.isArray(flags) ? html`<p class="notice warn">It does not follow the platform's own rules: ${foreign(flags.join('; '))}.</p>` : null}
${Array.isArray(altered) ? html`<p class="notice">Characters that Postgres cannot store were replaced in ${foreign(altered.join(', '))}.</p>` : null}`
}
