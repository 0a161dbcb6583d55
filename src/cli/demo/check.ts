import { isDeepStrictEqual } from 'node:util'
import type { Pool } from 'pg'
import type { SandboxState } from '#src/sandbox/state.ts'
import type { Night } from './tables.ts'

type Mutated = ReturnType<SandboxState['mutate']>

/** Returns in words how Postgres and the sandbox differ: in current rows, and in what the second night counted. */
export async function differencesToSandbox(
  pool: Pool,
  state: SandboxState,
  changes: Mutated,
  second: Night,
): Promise<string[]> {
  const rules = state.rules
    .rows()
    .map(({ id, name, enabled, labels, cron_pattern, delay_seconds, triggered }) => {
      return [`${id}`, name, enabled, labels ?? null, cron_pattern, `${delay_seconds}`, triggered]
    })
  const servers = state.servers.rows().map(({ server_id, server_name, status, tools }) => {
    return [server_id, server_name, status, tools?.map(tool => tool.name) ?? null]
  })
  const storedRules = await rowsOf(
    pool,
    `select id::text, name, enabled, labels, cron_pattern, delay_seconds::text, triggered from ferry.alert_rules`,
  )
  const storedServers = await rowsOf(
    pool,
    `select s.server_id, s.server_name, s.status, case when s.tools is not null then array(
       select t.name from ferry.mcp_server_tools t where t.server_id = s.server_id order by t.position) end
     from ferry.mcp_servers s`,
  )
  const [ruleRun, serverRun] = second.runs
  const counted = [
    ruleRun?.added,
    ruleRun?.changed,
    ruleRun?.removed,
    serverRun?.added,
    serverRun?.changed,
    serverRun?.removed,
  ]
  const kinds = [
    'rule-added',
    'rule-changed',
    'rule-removed',
    'server-added',
    'server-changed',
    'server-removed',
  ] as const
  const did = kinds.map(kind => changes[kind])
  return [
    ...(sameRows(rules, storedRules)
      ? []
      : [`alert rules differ (${rules.length} in the sandbox, ${storedRules.length} in Postgres)`]),
    ...(sameRows(servers, storedServers)
      ? []
      : [`MCP servers differ (${servers.length} in the sandbox, ${storedServers.length} in Postgres)`]),
    ...(isDeepStrictEqual(counted, did)
      ? []
      : [`the second night counted ${counted.join()} instead of ${did.join()} (${kinds.join()})`]),
  ]
}

async function rowsOf(pool: Pool, sql: string): Promise<unknown[][]> {
  const { rows } = await pool.query<unknown[]>({ text: sql, rowMode: 'array' })
  return rows
}

function sameRows(a: unknown[][], b: unknown[][]): boolean {
  const byId = (x: unknown[], y: unknown[]) => (String(x[0]) < String(y[0]) ? -1 : 1)
  return isDeepStrictEqual(a.toSorted(byId), b.toSorted(byId))
}
