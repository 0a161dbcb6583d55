import type { Command } from 'commander'
import { labelArgument, oneFolderArgument } from './arguments.ts'
import { addInventory } from './inventory.ts'

export function addRules(program: Command): void {
  const rules = program
    .command('rules')
    .description('the alert rules, as they are now or were at an earlier time')
  addInventory(rules, {
    resource: 'alert-rules',
    noun: 'rules',
    id: 'id',
    head: ['id', 'name', 'folder', 'enabled', 'firing', 'updated by', 'account'],
    cells: row => [
      BigInt(`${row.id}`),
      `${row.name}`,
      BigInt(`${row.folder_id}`),
      row.enabled === true,
      row.triggered === true,
      `${row.updater_name}`,
      row.account,
    ],
  })
    .option('--folder <id>', 'only those in this folder', oneFolderArgument)
    .option('--firing', 'only those that fire')
    .option('--label <key=value>', 'only those with this label; can be repeated', labelArgument)
}
