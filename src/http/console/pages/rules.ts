import { RULE_LIST } from '#src/inventory/history/inventory-lists.ts'
import { suggest } from '#src/inventory/history/known-words.ts'
import type { InventoryRow } from '#src/inventory/history/list-inventory.ts'
import type { Resource } from '#src/model/resource.ts'
import { type Html, html } from '../html.ts'
import { narrowed, type PageRequest } from '../page.ts'
import { inventoryLink } from '../parts/changes.ts'
import { textOf } from '../parts/inventory-row.ts'
import { latenessNote } from '../parts/lateness-note.ts'
import { listPage } from '../parts/list-page.ts'
import { ago, foreign, ruleBadges, time } from '../parts/values.ts'

const PATH = '/rules'

/** The rules, as they are or were at a moment. */
export const rules = listPage({
  path: PATH,
  section: 'rules',
  title: 'Rules',
  list: () => RULE_LIST,
  beside: async (request, { filter }) => ({
    between: await momentNote(request, 'alert-rules', filter.asOf),
    suggest: () => suggest(request.reader, 'alert-rules', filter),
    columns: [
      {
        head: 'Rule',
        cell: row =>
          inventoryLink({
            resource: 'alert-rules',
            account: row.account,
            id: `${row.id}`,
            name: textOf(row.name),
          }),
      },
      {
        head: 'Folder',
        cell: ({ folder_id }) =>
          html`<a href="${narrowed(PATH, request.query, { folder: `${folder_id}` })}">${textOf(folder_id)}</a>`,
      },
      { head: 'Team', cell: ({ team }) => teamOf(textOf(team), request.query) },
      { head: 'State', cell: stateOf },
      { head: 'Firing since', cell: row => ago(instantOf(row.firing_since), request.target.timezone) },
      { head: 'Unchanged since', cell: row => ago(instantOf(row.valid_from), request.target.timezone) },
      {
        head: 'Last edited by',
        cell: row => html`<span class="person">${foreign(textOf(row.updater_name))}</span>`,
      },
    ],
  }),
})

function teamOf(team: string | null, query: URLSearchParams): Html {
  return team?.trim()
    ? html`<a href="${narrowed(PATH, query, { team })}">${foreign(team)}</a>`
    : foreign(team)
}

function stateOf({ enabled, triggered }: InventoryRow): Html {
  return ruleBadges(enabled === true, triggered === true)
}

function instantOf(value: unknown): Date | null {
  return value instanceof Date ? value : null
}

/** Says what the list of another moment is, or of which accounts what is shown may not be so any more. */
export async function momentNote(
  request: PageRequest,
  resource: Resource,
  asOf: Date | undefined,
): Promise<Html> {
  const { timezone } = request.target
  if (asOf && asOf <= new Date())
    return html`<p class="notice">As it was known at ${time(asOf, timezone)}.</p>`
  return html`${asOf ? html`<p class="notice warn">This moment is in the future: what is shown is the current state.</p>` : null}${await latenessNote(request, [resource])}`
}
