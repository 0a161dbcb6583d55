import { ACCOUNT, type Columns, longList, sinceAndUntil } from '#src/db/list.ts'
import { counted } from '#src/model/counted.ts'
import { NOUNS, PLURALS, RESOURCES, type Resource } from '#src/model/resource.ts'
import { CHANGE_KINDS } from './change-kinds.ts'
import type { ChangeKey } from './change-lists.ts'
import type { ChangeRow } from './change-row.ts'
import { differencesOf, type Fields, fieldsFrom } from './differences.ts'

/** The columns of the changes of one rule or server. */
export const COLUMNS_OF_CHANGE = {
  change: row => row.change,
  name: row => (row.rows === null ? nameOf(row) : firstReadInWords(row.resource, row.account, row.rows)),
  what: row => differencesOf(fieldsFrom(row.before), fieldsFrom(row.after)),
  by: row => row.by,
  when: row => row.at,
} as const satisfies Columns<ChangeRow, string>

/** Who changed what, the newest first. */
export const CHANGE_LIST = longList({
  caption: 'Changes, newest first',
  filters: {
    ...sinceAndUntil(
      'how far back: 24h, 7d or 2026-11-01 (default: 24h; for one rule or server, everything)',
    ),
    by: {
      kind: 'text',
      label: 'Person (of rules)',
      hint: 'a part of the name',
      max: 500,
      suggest: async pool => (await import('./suggest.ts')).suggestEditors(pool),
      option: [
        '--by <name>',
        'only changes by people whose name contains this, in any case; removals and changes of MCP servers name no one',
      ],
    },
    rule: { kind: 'id', of: 'an alert rule', option: ['--rule <id>', 'only this alert rule'] },
    server: { kind: 'text', max: 1_000, option: ['--server <id>', 'only this MCP server'] },
    account: { ...ACCOUNT, max: 200 },
    resource: { kind: 'choice', values: RESOURCES, words: PLURALS, any: 'both', label: 'Inventory' },
    kind: { kind: 'choice', values: CHANGE_KINDS, label: 'Change' },
    folder: {
      kind: 'id',
      of: 'a folder',
      label: 'Folder (of rules)',
      hint: 'its number',
      suggest: async pool => (await import('./suggest.ts')).suggestFolders(pool),
    },
  },
  order: ['instant', 'resource', 'text', 'text'],
  async load(pool, { filter, after, limit }) {
    const { loadChangePage } = await import('./changes.ts')
    const { changes: rows, next, examinedTo } = await loadChangePage(pool, filter, after, limit)
    return { rows, next: next && placeOf(next), examinedTo }
  },
  async *stream(pool, filter, limit) {
    yield* (await import('./changes.ts')).listChanges(pool, filter, limit)
  },
  count: async (pool, filter, atMost) => (await import('./changes.ts')).countChanges(pool, filter, atMost),
  columns: {
    ...COLUMNS_OF_CHANGE,
    account: row => row.account,
    id: row => (row.rows === null ? row.id : null),
  },
  json: jsonOfChange,
  none: 'Nothing has been read yet. `ferry sync all` reads both inventories now.',
})

function placeOf([at, resource, account, id]: ChangeKey): [string, Resource, string, string] {
  return [at, resource, account, id]
}

/** `300 alert rules of default` */
export function firstReadInWords(resource: Resource, account: string, rows: number): string {
  return `${counted(rows, NOUNS[resource])} of ${account}`
}

function nameOf({ resource, name, id }: ChangeRow) {
  return resource === 'mcp-servers' ? `MCP server ${name ?? id}` : name
}

export function jsonOfChange({ id, before, after, at, by, ...row }: ChangeRow): ChangeJson {
  return {
    ...row,
    id: row.rows === null ? id : null,
    by,
    at,
    before: fieldsFrom(before),
    after: fieldsFrom(after),
  }
}

type ChangeJson = Omit<ChangeRow, 'id' | 'before' | 'after'> & {
  readonly id: string | null
  readonly before: Fields | null
  readonly after: Fields | null
}
