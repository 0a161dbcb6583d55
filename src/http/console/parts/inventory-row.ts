import type { Pool } from 'pg'
import { type InventoryRow, loadInventory } from '#src/inventory/list-inventory.ts'
import { cutText } from '#src/model/cut-text.ts'
import type { Resource } from '#src/model/resource.ts'
import { type Html, html } from '../html.ts'
import { foreign, time } from './values.ts'

/** The last version of a rule or server, also of one that is gone; null if nobody ever saw it in this account. */
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

const MAX_TITLE_CHARACTERS = 120

/** The name, or the id of what has none, short enough for a title. */
export function titleOf(name: string | null, id: string): string {
  return cutText(name?.trim() || id, MAX_TITLE_CHARACTERS)
}

/** What somebody must know before the fields: it is gone, it breaks the contract, its texts were altered. */
export function notesOn(row: InventoryRow, timezone: string): Html {
  const { valid_to: goneAt, flags, altered } = row
  return html`${goneAt instanceof Date ? html`<p class="notice warn">It is gone since ${time(goneAt, timezone)}. What follows is how it was last.</p>` : null}
${Array.isArray(flags) ? html`<p class="notice warn">It breaks the platform's own rules: ${foreign(flags.join('; '))}.</p>` : null}
${Array.isArray(altered) ? html`<p class="notice">Characters that Postgres cannot store were replaced in ${foreign(altered.join(', '))}.</p>` : null}`
}
