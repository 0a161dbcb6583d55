import type { Command } from 'commander'
import type { Pool } from 'pg'
import type { ChangeRow } from '#src/inventory/history/changes.ts'
import {
  differencesBetween,
  type Fields,
  fieldsFrom,
  valueInWords,
} from '#src/inventory/history/differences.ts'
import { counted } from '#src/model/counted.ts'
import { OUTSIDE_BASIC_VIEW } from '#src/model/declarations.ts'
import { DAY_MS } from '#src/model/duration.ts'
import { NOUNS, type Resource } from '#src/model/resource.ts'
import { expectAccount } from './accounts.ts'
import { instantArgument, ruleArgument } from './arguments.ts'
import { withFerry } from './command-context.ts'
import { UsageError } from './errors.ts'
import { EXIT } from './exit.ts'
import { noteHistoryStart, noteNearest } from './history-note.ts'
import { addListOptions, COUNTED_TO, type ListOptions, limitOf, printList } from './listing.ts'
import { harmless } from './output.ts'

type Options = ListOptions & { since?: Date; by?: string; rule?: bigint; server?: string; account?: string }

export function addChanges(program: Command): void {
  const command = program
    .command('changes')
    .description('what was added, changed and removed in the inventories, and by whom, newest first')
    .option(
      '--since <when>',
      'how far back: 24h, 7d or 2026-11-01 (default: 24h; for one rule or server, everything)',
      instantArgument,
    )
    .option('--by <name>', 'only changes by this person; removals and changes of MCP servers name no one')
    .option('--rule <id>', 'only this alert rule', ruleArgument)
    .option('--server <id>', 'only this MCP server')
    .option('--account <name>', 'only this account')
  addListOptions(command)
    .option('--json', 'print one JSON object per change')
    .action((options: Options) =>
      withFerry('read', async ferry => {
        const { pool } = ferry
        await expectAccount(ferry, options.account)
        const { countChanges, listChanges } = await import('#src/inventory/history/changes.ts')
        const filter = {
          since: options.since ?? (isOfOne(options) ? undefined : new Date(Date.now() - DAY_MS)),
          by: options.by,
          rule: options.rule,
          server: options.server,
          account: options.account,
        }
        await expectKnown(pool, options)
        const shown = await printList(listChanges(pool, filter, limitOf(options)), options, {
          columns: columnsOfChange,
          json: jsonOfChange,
          none: isOfOne(options)
            ? 'No changes are known.'
            : 'Nothing changed. `--since 7d` looks further back.',
          total: () => countChanges(pool, filter, COUNTED_TO + 1),
        })
        await noteHistoryStart(pool, filter.since)
        if (shown === 0 && filter.by !== undefined)
          await noteNearest(pool, 'alert-rules', 'editors', filter.by)
        return EXIT.done
      }),
    )
}

/** Throws `UsageError` if that rule or server was never seen: an empty list would look as if it had not changed. */
async function expectKnown(pool: Pool, { rule, server, account }: Options): Promise<void> {
  const { loadInventory } = await import('#src/inventory/history/list-inventory.ts')
  const expectOne = async (resource: Resource, noun: string, id: string) => {
    const found = await loadInventory(pool, resource, id, { asOf: undefined, account })
    if (found.length === 0) throw nothingKnown(noun, id)
  }
  if (rule !== undefined) await expectOne('alert-rules', 'rules', `${rule}`)
  if (server !== undefined) await expectOne('mcp-servers', 'servers', server)
}

export function nothingKnown(noun: string, id: string, when = ''): UsageError {
  return new UsageError(
    `nothing with the id ${harmless(id)} is known${when}; \`ferry ${noun} list\` lists what is known`,
  )
}

function isOfOne({ rule, server }: Options): boolean {
  return rule !== undefined || server !== undefined
}

export function columnsOfChange(row: ChangeRow) {
  return {
    change: row.change,
    name: row.rows === null ? nameOf(row) : firstReadInWords(row.resource, row.account, row.rows),
    what: differencesOf(fieldsFrom(row.before), fieldsFrom(row.after)),
    by: row.by,
    when: row.at,
  }
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

/** `enabled: true → false, labels.severity: "warning" → "critical"` */
export function differencesOf(before: Fields | null, after: Fields | null): string {
  const differences = differencesBetween(before, after)
  if (differences.length === 0 && before && after) return OUTSIDE_BASIC_VIEW
  return differences
    .map(({ field, before: old, after: now }) => `${field}: ${valueInWords(old)} → ${valueInWords(now)}`)
    .join(', ')
}
