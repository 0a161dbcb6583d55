import { setTimeout as delay } from 'node:timers/promises'
import { syncInventory } from '#src/inventory/sync.ts'
import { atMost, type Figure, median, type Wanted } from './support/figures.ts'
import { type Bench, type Lab, NEVER, settingsFor } from './support/lab.ts'

const LATENCY_MS = 200
const PAGE = 100
/** The contract's limit that binds here: calls a second. */
const LIMIT = { maxCalls: 50, windowMs: 1_000 }

/**
 * A listing of many pages, each of which takes its time, as fast as the limits allow. One after the other: 20 s.
 *
 * A call counts until a second after its answer, and page 1 goes out alone: so 100 calls take 1.6 s at least, and 101 calls
 * take 2.6 s. A last page that is short is the end of the list; after a full one another call has to show that there is no
 * more. Hence two lists: of 100 pages that end with a short one, and of 100 full pages.
 */
export const mcpPages: Bench = async lab => {
  const pages = lab.size(100, 10)
  const short = await measure(lab, pages * PAGE - 1, pages)
  const full = await measure(lab, pages * PAGE, pages + 1)
  const atFloor = atMost(1.1, { must: 1.2 })
  return [
    ...figures(`${pages} pages at ${LATENCY_MS} ms`, short, {
      known: { wanted: atMost(1.8, { must: 2.2 }) },
      unknown: { wanted: atMost(4.1, { must: 4.6 }) },
    }),
    ...figures(`${pages} full pages and an empty one`, full, {
      known: { floor: leastMs(pages + 1) / 1000, wanted: atFloor },
      unknown: { floor: leastMs(2 * (pages + 1)) / 1000, wanted: atFloor },
    }),
    {
      measure: 'most calls in any second',
      value: Math.max(short.mostCalls, full.mostCalls),
      unit: 'calls',
      wanted: atMost(LIMIT.maxCalls, { always: true }),
    },
  ]
}

type Measured = {
  readonly knownMs: readonly number[]
  readonly unknownMs: readonly number[]
  readonly mostCalls: number
}

/**
 * Syncs a list of `servers`, of which one pass takes `calls`, into a few databases: first with all ids new, then with all
 * known. The first of all syncs also loads and compiles code.
 */
async function measure(lab: Lab, servers: number, calls: number): Promise<Measured> {
  const sandbox = await lab.openSandbox({ rules: 0, servers, answerMs: LATENCY_MS })
  const knownMs: number[] = []
  const unknownMs: number[] = []
  for (let round = 0; round < lab.size(3, 1); round++) {
    const databaseUrl = await lab.openDatabase()
    const ferry = await lab.openFerry(settingsFor(databaseUrl, sandbox, { FERRY_PAGE_LIMIT: `${PAGE}` }))
    const sync = async (requests: number) => {
      await delay(1_500) // so that no call of the last pass is in the window of a second any more
      const startedAtMs = performance.now()
      const request = { account: 'default', resource: 'mcp-servers', trigger: 'manual' } as const
      const run = await syncInventory(ferry, request, NEVER)
      const tookMs = performance.now() - startedAtMs
      if (run.status !== 'succeeded' || run.seen !== servers)
        throw new Error(`the sync failed: ${run.message}`)
      if (run.requests !== requests)
        throw new Error(`the sync took ${run.requests} requests, not ${requests}`)
      return tookMs
    }
    unknownMs.push(await sync(2 * calls)) // two passes, since all ids are new
    knownMs.push(await sync(calls))
  }
  const operation = 'list-mcp-servers'
  const windowMs = LIMIT.windowMs
  const mostCalls = await sandbox.admin<number>('most-in-any-window', { operation, windowMs })
  return { knownMs, unknownMs, mostCalls }
}

type Bounds = { readonly floor?: number; readonly wanted: Wanted }

function figures(
  list: string,
  { knownMs, unknownMs }: Measured,
  bounds: { readonly known: Bounds; readonly unknown: Bounds },
): Figure[] {
  return [
    {
      measure: `${list}, known ids (one pass)`,
      value: median(knownMs) / 1000,
      unit: 's',
      rounds: { ms: knownMs },
      ...bounds.known,
    },
    {
      measure: `${list}, new ids (two passes)`,
      value: median(unknownMs) / 1000,
      unit: 's',
      rounds: { ms: unknownMs },
      ...bounds.unknown,
    },
  ]
}

/** The least time in which so many calls can be made, whatever their order, if the first one is answered before the others. */
function leastMs(calls: number): number {
  const answeredMs = [LATENCY_MS]
  for (let call = 1; call < calls; call++) {
    const leaves = answeredMs[call - LIMIT.maxCalls]
    const sentMs = Math.max(LATENCY_MS, leaves === undefined ? 0 : leaves + LIMIT.windowMs)
    answeredMs.push(sentMs + LATENCY_MS)
  }
  return Math.max(...answeredMs)
}
