import type { Operation } from '#src/model/call.ts'

/** The three operations of the contract: the path, and what the platform counts calls by (sections 4 and 8). */
export const OPERATIONS = {
  'list-alert-rules': { path: '/monit/rule/list/basic', countedPer: 'account' },
  'import-subscribers': { path: '/status-page/subscriber/import', countedPer: 'account' },
  'list-mcp-servers': { path: '/safari/mcp/server/list', countedPer: 'app_key' },
} as const satisfies Record<Operation, { path: string; countedPer: 'account' | 'app_key' }>
