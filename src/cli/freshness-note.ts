import type { Pool } from 'pg'
import type { Resource } from '#src/model/resource.ts'
import { harmless, instant, printAside } from './output.ts'

/** Says, beside rows that come from these inventories, which of them are older than promised, in one line. */
export async function noteLateness(
  pool: Pool,
  of: readonly Resource[],
  account: string | undefined,
): Promise<void> {
  const { isLate, loadFreshness } = await import('#src/reports/freshness.ts')
  const late = (await loadFreshness(pool, account ?? null)).filter(
    row => of.includes(row.inventory) && isLate(row),
  )
  if (late.length === 0) return
  const each = late.map(({ account, inventory, lastCompleteAt }) => {
    const read = lastCompleteAt === null ? 'never read completely' : `last read ${instant(lastCompleteAt)}`
    return `${inventory} of account ${harmless(account)} (${read})`
  })
  printAside(`ferry: these are older than promised: ${each.join(', ')}. \`ferry freshness\` says why.`)
}
