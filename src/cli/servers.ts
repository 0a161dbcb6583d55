import type { Command } from 'commander'
import { teamArgument } from './arguments.ts'
import { addInventory } from './inventory.ts'
import type { Cell } from './output.ts'

export function addServers(program: Command): void {
  const servers = program
    .command('servers')
    .description('the MCP servers, as they are now or were at an earlier time')
  addInventory(servers, {
    resource: 'mcp-servers',
    noun: 'servers',
    id: 'server_id',
    head: ['id', 'name', 'team', 'status', 'transport', 'tools', 'account'],
    cells: row => [
      `${row.server_id}`,
      text(row.server_name),
      text(row.team_id),
      text(row.status),
      text(row.transport),
      Array.isArray(row.tools) ? row.tools.length : null,
      row.account,
    ],
  }).option('--team <id>', 'only those of this team; 0 for the servers of the account', teamArgument)
}

function text(value: unknown): Cell {
  return value === null || value === undefined ? null : `${value}`
}
