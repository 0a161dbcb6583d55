import { RowTable } from '#src/inventory/read/row-table.ts'
import { type AlertRule, alertRuleFlags } from '#src/model/alert-rule.ts'
import type { Listing } from '#src/platform/listing.ts'
import type { InventoryAccount } from './context.ts'
import { EVERY_FOLDER } from './scope.ts'
import type { InventorySource, ListRequest } from './source.ts'
import { ALERT_RULE_VERSIONS } from './versioned-tables.ts'

/** Alert rules: one unpaged response for each folder. If every folder is among `folders`, only that is asked for. */
export function alertRules(account: InventoryAccount, folders = account.folders): InventorySource<AlertRule> {
  const asked = folders.includes(EVERY_FOLDER) ? [EVERY_FOLDER] : [...new Set(folders)]
  return {
    resource: 'alert-rules',
    table: ALERT_RULE_VERSIONS,
    scope: { folders: asked.map(String).sort(), includeAccount: null, keyHash: account.keyHash },
    folders: asked.includes(EVERY_FOLDER) ? null : asked,
    flagsOf: alertRuleFlags(),
    isFiring: rule => rule.triggered,
    accountIdOf: rule => rule.account_id,
    createListedRows: () => new RowTable(),
    list: request => listFolders(account, asked, request),
  }
}

/** An answer waits on its connection until its rows are read, and the client has not many of them. */
const MAX_AT_ONCE = 50

/**
 * Asks for many folders at once, and yields their rows one folder after the other. Once one of them is refused nothing that
 * the others have would count, so they are not asked any more.
 */
async function* listFolders(
  { client }: InventoryAccount,
  folders: readonly bigint[],
  { find, runId, signal }: ListRequest,
): Listing<AlertRule> {
  const leaving = new AbortController()
  const context = { runId, signal: AbortSignal.any([signal, leaving.signal]) }
  const asked: ReturnType<typeof ask>[] = []

  function ask(folder: bigint) {
    const listing = client.listAlertRules(folder, find, context)
    // An answer begins before its rows are asked for.
    const first = listing.next()
    first.catch(() => {}) // thrown where it is awaited
    return { listing, first }
  }

  try {
    for (const [n, folder] of folders.entries()) {
      while (asked.length < Math.min(n + MAX_AT_ONCE, folders.length))
        asked.push(ask(folders[asked.length] ?? folder))
      const { listing, first } = asked[n] ?? ask(folder)
      for (let step = await first; !step.done; step = await listing.next()) {
        yield step.value
        if (step.value.kind === 'ended' && !step.value.answer.ok) return
      }
    }
  } finally {
    leaving.abort()
    // That they are left is what those that are being read throw.
    await Promise.allSettled(asked.map(({ listing }) => listing.return()))
  }
}
