import { recordWorker } from '#src/db/workers.ts'
import { type FreshnessTarget, saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import type { ConsoleHarness } from './console-harness.ts'

/** An inventory older than an hour is late. */
export const HOURLY: FreshnessTarget = { ...FRESHNESS_TARGET, targetMs: 3_600_000 }

/** Both inventories are fresh, and a worker is alive. */
export async function allRight(harness: ConsoleHarness): Promise<void> {
  const { pool } = harness.ferry
  await saveFreshnessTargets(pool, [HOURLY, { ...HOURLY, resource: 'mcp-servers', folders: null }])
  await harness.sync()
  await harness.sync({ resource: 'mcp-servers' })
  await recordWorker(pool, 'one', '1.2.3', ['default'])
}

/** The tone and the sentence of the page Now. */
export function verdictIn(text: string): string[] | undefined {
  return /<p class="verdict (\w+)">.*?<\/span> (.*?)<\/p>/s
    .exec(text)
    ?.slice(1)
    .map(part => part.replaceAll(/<[^>]+>/g, ''))
}
