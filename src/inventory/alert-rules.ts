import type { AlertRule } from '#src/model/alert-rule.ts'
import { alertRuleFlags } from '#src/model/alert-rule-flags.ts'
import { canonicalAlertRule } from '#src/model/fingerprint.ts'
import type { InventoryAccount } from './context.ts'
import { RowTable } from './row-table.ts'
import { EVERY_FOLDER } from './scope.ts'
import type { InventorySource, ReadRequest, ReadResult } from './source.ts'
import { ALERT_RULE_VERSIONS } from './versioned-tables.ts'

/** Alert rules: one unpaged response for each folder. If every folder is among `folders`, only that is asked for. */
export function alertRules(account: InventoryAccount, folders = account.folders): InventorySource<AlertRule> {
  const asked = folders.includes(EVERY_FOLDER) ? [EVERY_FOLDER] : [...new Set(folders)]
  return {
    resource: 'alert-rules',
    table: ALERT_RULE_VERSIONS,
    scope: { folders: asked.map(String).sort(), includeAccount: null, keyHash: account.keyHash },
    folders: asked.includes(EVERY_FOLDER) ? null : asked,
    canonical: canonicalAlertRule,
    flagsOf: alertRuleFlags(),
    isFiring: rule => rule.triggered,
    accountIdOf: rule => rule.account_id,
    createListedRows: () => new RowTable(),
    read: request => readFolders(account, asked, request),
  }
}

/** An answer waits on its connection until its rows are read, and the client has not many of them. */
const MAX_AT_ONCE = 50

/** Asks for many folders at once, and reads their rows one folder after the other. */
async function readFolders(
  account: InventoryAccount,
  folders: readonly bigint[],
  { runId, signal, part }: ReadRequest<AlertRule>,
): Promise<ReadResult> {
  const failing = new AbortController()
  const either = AbortSignal.any([signal, failing.signal])
  const calls: ReturnType<typeof account.client.listAlertRules>[] = []
  for (const [n, folder] of folders.entries()) {
    const sink = part(calls[n - 1])
    const ask = () => account.client.listAlertRules(folder, sink, { runId, signal: either })
    const call = n < MAX_AT_ONCE ? ask() : Promise.resolve(calls[n - MAX_AT_ONCE]).then(ask)
    call.catch(error => failing.abort(error))
    calls.push(call)
  }
  await Promise.allSettled(calls)
  if (failing.signal.aborted) throw failing.signal.reason
  const answers = await Promise.all(calls)
  const requests = answers.reduce((sum, answer) => sum + answer.requests, 0)
  const listings = []
  for (const answer of answers) {
    if (!answer.ok) return { kind: 'refused', refusal: answer.refusal, requests, pages: listings.length }
    listings.push(answer.data)
  }
  const drift = listings.flatMap(listing => listing.drift)
  return {
    kind: 'read',
    requests,
    pages: listings.length,
    drift: [...new Map(drift.map(found => [`${found.field} ${found.type}`, found])).values()],
    incomplete: null,
    confirmed: false,
    dataHashes: listings.map(listing => listing.dataHash),
  }
}
