import { setTimeout as delay } from 'node:timers/promises'
import { syncInventory } from '#src/inventory/sync.ts'
import { atMost, median } from './support/figures.ts'
import { type Bench, NEVER, settingsFor } from './support/lab.ts'
import { timed } from './support/measure.ts'

const LATENCY_MS = 200
const PAGE = 100

/** A listing of many pages, each of which takes its time, as fast as the limits allow. One after the other: 20 s. */
export const mcpPages: Bench = async lab => {
  const pages = lab.size(100, 10)
  const sandbox = await lab.openSandbox({ rules: 0, servers: pages * PAGE, answerMs: LATENCY_MS })
  const warmMs: number[] = []
  const coldMs: number[] = []
  for (let round = 0; round < lab.size(3, 1); round++) {
    const databaseUrl = await lab.openDatabase()
    const ferry = await lab.openFerry(settingsFor(databaseUrl, sandbox, { FERRY_PAGE_LIMIT: `${PAGE}` }))
    const sync = async (requests: number) => {
      await delay(1_500) // so that no call of the last pass is in the window of a second any more
      return timed(async () => {
        const request = { account: 'default', resource: 'mcp-servers', trigger: 'manual' } as const
        const run = await syncInventory(ferry, request, NEVER)
        if (run.status !== 'succeeded' || run.seen !== pages * PAGE)
          throw new Error(`the sync failed: ${run.message}`)
        if (run.requests > requests)
          throw new Error(`the sync took ${run.requests} requests, not ${requests}`)
      })
    }
    // Two passes, since all ids are new; each page, and one more to see that there is none.
    coldMs.push(await sync(2 * (pages + 1)))
    warmMs.push(await sync(pages + 1))
  }
  const operation = 'list-mcp-servers'
  const most = await sandbox.admin<number>('most-in-any-window', { operation, windowMs: 1_000 })
  return [
    {
      measure: `${pages} pages at ${LATENCY_MS} ms, known ids (one pass)`,
      value: median(warmMs) / 1000,
      rounds: { warmMs },
      unit: 's',
      wanted: atMost(1.8, { must: 2.2 }),
    },
    {
      measure: `${pages} pages at ${LATENCY_MS} ms, new ids (two passes)`,
      value: median(coldMs) / 1000,
      rounds: { coldMs },
      unit: 's',
      wanted: atMost(4.1, { must: 4.6 }),
    },
    { measure: 'most calls in any second', value: most, unit: 'calls', wanted: atMost(50, { always: true }) },
  ]
}
