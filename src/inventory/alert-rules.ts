import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AlertRule } from '#src/model/alert-rule.ts'
import { alertRuleFlags } from '#src/model/alert-rule-flags.ts'
import { canonicalAlertRule } from '#src/model/fingerprint.ts'
import { hasUnreadableId, joinListings } from '#src/model/listing.ts'
import type { InventoryAccount } from './context.ts'
import { UNREADABLE_ID } from './messages.ts'
import { EVERY_FOLDER } from './scope.ts'
import type { InventorySource, Reading, ReadRequest } from './source.ts'
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
    read: request => readFolders(account, asked, request),
  }
}

async function readFolders(
  account: InventoryAccount,
  folders: readonly bigint[],
  { runId, signal, trustedHashes }: ReadRequest,
): Promise<Reading<AlertRule>> {
  const knownHashes = new Set(trustedHashes)
  const answers = await Promise.all(
    folders.map(folder => account.client.listAlertRules(folder, { runId, signal, knownHashes })),
  )
  const requests = answers.reduce((sum, answer) => sum + answer.requests, 0)
  const bodies = []
  for (const answer of answers) {
    if (!answer.ok) return { kind: 'refused', refusal: answer.refusal, requests, pages: bodies.length }
    bodies.push(answer.data)
  }
  const read = { requests, pages: bodies.length }

  const hashes = bodies.map(body => body.dataHash)
  if (trustedHashes.length === hashes.length && hashes.every((hash, n) => hash === trustedHashes[n])) {
    return { ...read, kind: 'identical' }
  }
  const listings = []
  for (const body of bodies) {
    // A large response takes seconds to parse: leases are renewed in between.
    await nextTurn()
    listings.push(body.listing())
  }
  const listing = joinListings(listings, rule => `${rule.id}`)
  return {
    ...read,
    kind: 'read',
    listing,
    incomplete: hasUnreadableId(listing) ? UNREADABLE_ID : null,
    confirmed: false,
    dataHashes: hashes.every(hash => hash !== null) ? hashes : null,
  }
}
