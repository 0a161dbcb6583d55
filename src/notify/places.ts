import type { EventData, EventKind } from '#src/model/event.ts'

/** What an event is about, as far as its page depends on it. */
export type About = { readonly kind: EventKind; readonly account: string; readonly data: EventData }

/** The page of the console that shows what an event is about. */
export function pageOf({ kind, account, data: { run, import: imported, ruleIds, rules } }: About): string {
  const id = Array.isArray(ruleIds) ? ruleIds[0] : undefined
  if (id !== undefined && rules === 1)
    return `/rules/${encodeURIComponent(account)}/${encodeURIComponent(id)}`
  if (imported) return `/imports/${encodeURIComponent(`${imported}`)}`
  if (kind === 'mcp.tools.changed') return '/mcp/changes'
  if (kind === 'removals.held') return run ? `/ledger/holds/${encodeURIComponent(`${run}`)}` : '/ledger/holds'
  if (kind === 'night.missed') return '/ledger/snapshots'
  if (kind === 'inventory.late' || !run) return '/'
  return `/ledger/runs/${encodeURIComponent(`${run}`)}`
}
