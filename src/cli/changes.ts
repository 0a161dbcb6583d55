import type { Command } from 'commander'
import type { Pool } from 'pg'
import { isNarrowedBy } from '#src/db/list.ts'
import { CHANGE_LIST } from '#src/inventory/history/changes-list.ts'
import { DAY_MS } from '#src/model/duration.ts'
import { RESOURCES, type Resource } from '#src/model/resource.ts'
import { UsageError } from './errors.ts'
import { noteHistoryStart, noteLateness, noteSuggested, noteUnread } from './history-note.ts'
import { addLongList } from './listing.ts'
import { harmless } from './output.ts'

export function addChanges(program: Command): void {
  const command = program
    .command('changes')
    .description('what was added, changed and removed in the inventories, and by whom, newest first')
  addLongList(command, CHANGE_LIST, {
    row: 'change',
    columns: ['change', 'name', 'what', 'by', 'when'],
    none: wordsForNone,
    async prepare(pool, filter) {
      await expectKnown(pool, filter)
      if (filter.since !== undefined || isOfOne(filter)) return filter
      return { ...filter, since: new Date(Date.now() - DAY_MS) }
    },
    async note(pool, { since, account, by }, shown) {
      await noteHistoryStart(pool, since)
      await noteLateness(pool, RESOURCES, account)
      if (shown > 0) return
      await noteUnread(pool)
      await noteSuggested(pool, 'alert-rules', { by })
    },
  })
}

function wordsForNone({
  since,
  rule,
  server,
  ...others
}: Of & { readonly since?: Date | undefined }): string {
  const isNarrowed = isNarrowedBy(others) || (rule !== undefined && server !== undefined)
  const isOne = isOfOne({ rule, server })
  if (since !== undefined || (isNarrowed && isOne)) return 'No change matches.'
  if (isOne) return 'No changes are known.'
  const what = isNarrowed ? 'No change of the last day matches' : 'Nothing changed in the last day'
  return `${what}. \`--since 7d\` looks further back.`
}

type Of = {
  readonly rule?: bigint | undefined
  readonly server?: string | undefined
  readonly account?: string | undefined
}

/** Throws `UsageError` if that rule or server was never seen: an empty list would look as if it had not changed. */
async function expectKnown(pool: Pool, { rule, server, account }: Of): Promise<void> {
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

function isOfOne({ rule, server }: Of): boolean {
  return rule !== undefined || server !== undefined
}
