import type { PoolClient } from 'pg'
import { z } from 'zod'
import { raiseEvent } from '#src/db/outbox.ts'
import { findColumn } from '#src/db/rows.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'

/** How many servers a message names. */
const MAX_NAMED = 20

/**
 * Raises an event that names the MCP servers whose tools this run changed: added, removed, or with another description. The
 * order of the tools does not count. Servers that are new or gone do not count; one that returns is compared with what it was.
 */
export async function tellOfChangedTools(client: PoolClient, step: RunStep): Promise<void> {
  const { account, resource, runId, at } = step
  const changed = await findColumn(
    client,
    z.string(),
    `select n.server_id from ferry.mcp_server_versions n
     where n.valid_from = $1 and n.account = $2 and n.opened_by_run = $3
       and n.server_id in (
         select c.server_id from ferry.mcp_tool_changes($1::timestamptz, $1::timestamptz) c where c.account = $2)
     order by n.server_id`,
    [at, account, runId],
  )
  if (changed.length === 0) return
  await raiseEvent(
    client,
    { kind: 'mcp.tools.changed', account, subject: resource },
    {
      inventory: resource,
      run: `${runId}`,
      servers: changed.length,
      serverIds: changed.slice(0, MAX_NAMED),
    },
  )
}
