import type { Pool } from 'pg'
import { ACCOUNT, type Cell, type Filters, longList } from '#src/db/list.ts'
import { NUMBER_FIELDS } from '#src/model/declarations.ts'
import type { Resource } from '#src/model/resource.ts'
import type { InventoryFilter, InventoryRow } from './list-inventory.ts'
import { RULE_SORTS, SERVER_SORTS } from './list-order.ts'

/** What both lists are narrowed by. */
const OF_BOTH = {
  account: { ...ACCOUNT, max: 200 },
  name: {
    kind: 'text',
    max: 1_000,
    option: ['--name <text>', 'only those whose name contains this text, in any case'],
  },
  enabled: {
    kind: 'flag',
    label: 'State',
    words: { yes: 'enabled', no: 'disabled' },
    option: ['--enabled', 'only those that are enabled'],
    opposite: ['--disabled', 'only those that are disabled'],
  },
  asOf: {
    kind: 'instant',
    label: 'As of',
    option: ['--as-of <when>', 'as they were at that time: 2026-11-01T03:30Z, or 24h for 24 hours ago'],
  },
} as const satisfies Filters

/** The alert rules, as they are now or were at an earlier time. */
export const RULE_LIST = longList({
  caption: 'Alert rules',
  filters: {
    words: {
      kind: 'text',
      label: 'Words',
      hint: 'in the name or a label',
      max: 200,
      option: ['--match <words>', 'only those that have these words in the name or the labels'],
    },
    folder: {
      kind: 'id',
      of: 'a folder',
      label: 'Folder',
      hint: 'its number',
      suggest: async pool => (await import('./suggest.ts')).suggestFolders(pool),
      option: ['--folder <id>', 'only those in this folder'],
    },
    team: {
      kind: 'text',
      label: 'Team',
      hint: 'its whole name',
      max: 100,
      suggest: async pool => (await import('./suggest.ts')).suggestTeams(pool),
    },
    label: {
      kind: 'labels',
      label: 'Label',
      hint: 'severity=critical',
      option: ['--label <key=value>', 'only those with this label; can be repeated'],
    },
    firing: {
      kind: 'flag',
      label: 'Firing',
      words: { yes: 'firing', no: 'not firing' },
      option: ['--firing', 'only those that are firing'],
    },
    ...OF_BOTH,
    sort: {
      kind: 'choice',
      values: RULE_SORTS.slice(1),
      words: {
        folder: 'folder',
        updated: 'updated',
        'firing since': 'firing since (those that are not are left out)',
      },
      any: RULE_SORTS[0],
      label: 'Sort by',
    },
  },
  order: ['text', 'text', 'number', 'number', 'instant'],
  load: async (pool, { filter, after, limit }) =>
    (await import('./rule-page.ts')).loadRulePage(pool, filter, after, limit),
  ...allOf('alert-rules'),
  columns: {
    id: row => BigInt(`${row.id}`),
    name: row => `${row.name}`,
    folder: row => BigInt(`${row.folder_id}`),
    team: row => text(row.team),
    enabled: row => row.enabled === true,
    firing: row => row.triggered === true,
    'firing since': row => instant(row.firing_since),
    'unchanged since': row => instant(row.valid_from),
    'updated by': row => `${row.updater_name}`,
    account: row => row.account,
  },
  none: 'No rule is known. `ferry sync alert-rules` reads them from the platform.',
  noneMatches: 'No rule matches.',
  json: documentOf,
})

/** The MCP servers, as they are now or were at an earlier time. */
export const SERVER_LIST = longList({
  caption: 'MCP servers',
  filters: {
    words: {
      kind: 'text',
      label: 'Words',
      hint: 'in the name, description or address',
      max: 200,
      option: ['--match <words>', 'only those that have these words in the name, description or address'],
    },
    team: {
      kind: 'id',
      of: 'a team',
      label: 'Team',
      hint: 'its number',
      suggest: async pool => (await import('./suggest.ts')).suggestServerTeams(pool),
      option: ['--team <id>', "only this team's; 0 for the account's own"],
    },
    ...OF_BOTH,
    sort: { kind: 'choice', values: SERVER_SORTS.slice(1), any: SERVER_SORTS[0], label: 'Sort by' },
  },
  order: ['text', 'text', 'text', 'number', 'instant'],
  load: async (pool, { filter, after, limit }) =>
    (await import('./server-page.ts')).loadServerPage(pool, filter, after, limit),
  ...allOf('mcp-servers'),
  columns: {
    id: row => `${row.server_id}`,
    name: row => text(row.server_name),
    team: row => text(row.team_id),
    status: row => text(row.status),
    transport: row => text(row.transport),
    'sign-in': row => text(row.auth_mode),
    tools: row =>
      Array.isArray(row.tools) ? row.tools.length : typeof row.tools === 'number' ? row.tools : null,
    'unchanged since': row => instant(row.valid_from),
    account: row => row.account,
  },
  none: 'No MCP server is known. `ferry sync mcp-servers` reads them from the platform.',
  noneMatches: 'No server matches.',
  json: documentOf,
})

function allOf(resource: Resource) {
  return {
    async *stream(pool: Pool, filter: InventoryFilter, limit: number | null) {
      const { listInventory } = await import('./list-inventory.ts')
      yield* listInventory(pool, resource, filter, limit)
    },
    async count(pool: Pool, filter: InventoryFilter, atMost: number) {
      const { countInventory } = await import('./list-inventory.ts')
      return countInventory(pool, resource, filter, atMost)
    },
  }
}

function text(value: unknown): string | null {
  return value === null || value === undefined ? null : `${value}`
}

function instant(value: unknown): Cell {
  return value instanceof Date ? value : null
}

/** All fields of a row, as JSON has them. */
export function documentOf(row: InventoryRow): Record<string, unknown> {
  const document: Record<string, unknown> = { ...row }
  for (const name of NUMBER_FIELDS) {
    const number = Number(document[name])
    if (typeof document[name] === 'string' && Number.isSafeInteger(number)) document[name] = number
  }
  return document
}
