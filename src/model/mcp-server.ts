import { type Declaration, type Integer, open, optional, type RowOf, required } from './fields.ts'

/**
 * MCP servers as the contract declares them. It requires no field, so all but the id can be null. `transport`, `status` and
 * `auth_mode` are open sets: they are stored as given.
 */
export const MCP_SERVER = {
  fingerprintVersion: 1,
  id: 'server_id',
  name: 'server_name',
  folder: null,
  fields: {
    server_id: required('text id', "The server's id on the platform."),
    account_id: optional('id64', "The platform's id of the owning account (uint64)."),
    team_id: optional('id64', 'The owning team (uint64); 0 appears for an account-level server.', 'Team'),
    can_edit: optional(
      'flag',
      'Whether the owner of the app key may edit the server.',
      'May be edited with the key',
    ),
    server_name: optional('text', "The server's name."),
    description: optional('text', 'What its owners say it does.', 'Description'),
    transport: open(optional('text', 'Transport, for example streamable-http.', 'Transport')),
    url: optional('text', "The server's address.", 'Address'),
    status: open(optional('text', 'For example enabled.')),
    connect_timeout: optional(
      'int64',
      'Connection timeout, as the platform gave it. Its unit is not documented.',
      'Timeout to connect, as given',
    ),
    call_timeout: optional(
      'int64',
      'Call timeout, as the platform gave it. Its unit is not documented.',
      'Timeout of a call, as given',
    ),
    tool_count: optional('int64', 'Number of tools, as the platform counts them.'),
    tools: optional(
      'tools',
      'The recorded tools: an array of {name, description}. Not a live probe of the server. One row each in mcp_server_tools.',
    ),
    auth_mode: open(optional('text', 'For example shared.', 'Sign-in')),
    created_by: optional('id64', 'Id of the person who registered the server (uint64).', 'Created by (id)'),
    created_at: optional(
      'int64',
      'When the server was registered, as the platform gave it. Its unit is not documented.',
    ),
    updated_at: {
      ...optional(
        'int64',
        'When the server was last changed, as the platform gave it. Its unit is not documented.',
      ),
      isAboutEdit: true,
    },
  },
} as const satisfies Declaration

/** An MCP server, ids and integers exact. */
export type McpServer<Int extends Integer = Integer> = RowOf<typeof MCP_SERVER.fields, Int>
