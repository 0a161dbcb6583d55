/**
 * An MCP server as the contract declares it, ids and integers exact.
 *
 * The contract requires no field, so all but the id can be null. `transport`, `status` and `auth_mode` are open sets: they
 * are stored as given.
 */
export type McpServer = {
  readonly server_id: string
  readonly account_id: bigint | null
  readonly team_id: bigint | null
  readonly can_edit: boolean | null
  readonly server_name: string | null
  readonly description: string | null
  readonly transport: string | null
  readonly url: string | null
  readonly status: string | null
  readonly connect_timeout: bigint | null
  readonly call_timeout: bigint | null
  readonly tool_count: bigint | null
  readonly tools: readonly McpTool[] | null
  readonly auth_mode: string | null
  readonly created_by: bigint | null
  readonly created_at: bigint | null
  readonly updated_at: bigint | null
}

export type McpTool = { readonly name: string | null; readonly description: string | null }
