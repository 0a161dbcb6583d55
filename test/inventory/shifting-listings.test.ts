import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { InventoryAccount } from '#src/inventory/context.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import type { PlatformClient } from '#src/platform/client.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { mcpPage } from '#test/support/mcp-list.ts'

const NEVER = new AbortController().signal

/** What happens to the list just before a page is answered. */
const shift = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ kind: 'none' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), at: fc.nat(60) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('insert' as const), at: fc.nat(60) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), at: fc.nat(60), to: fc.nat(60) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('replace' as const), at: fc.nat(60), to: fc.nat(60) }),
  },
)
type Shift = { readonly kind: string; readonly at?: number; readonly to?: number }

/** A platform whose list of servers shifts between one page and the next, and which knows what was there throughout. */
class ShiftingPlatform {
  #ids: string[]
  #next = 1000
  #shifts: Shift[]
  throughout: Set<string>
  readonly size: number

  constructor(count: number, size: number, shifts: readonly Shift[]) {
    this.#ids = Array.from({ length: count }, (_, n) => `server-${n}`)
    this.throughout = new Set(this.#ids)
    this.size = size
    this.#shifts = [...shifts]
  }

  /** From here on, what is there now counts as there throughout unless it goes. */
  beginRun(): void {
    this.throughout = new Set(this.#ids)
  }

  page(page: number) {
    this.#shift(this.#shifts.shift() ?? { kind: 'none' })
    const servers = this.#ids
      .slice((page - 1) * this.size, page * this.size)
      .map(server_id => ({ server_id, server_name: server_id }))
    return mcpPage(servers, this.#ids.length)
  }

  #shift({ kind, at = 0, to = 0 }: Shift): void {
    const index = at % Math.max(1, this.#ids.length)
    if (kind === 'insert') this.#ids.splice(index, 0, `server-${this.#next++}`)
    if (kind === 'remove' || kind === 'replace')
      for (const id of this.#ids.splice(index, 1)) this.throughout.delete(id)
    if (kind === 'replace') this.#ids.splice(to % (this.#ids.length + 1), 0, `server-${this.#next++}`)
    if (kind === 'move') this.#ids.splice(to % (this.#ids.length || 1), 0, ...this.#ids.splice(index, 1))
  }

  client(): PlatformClient {
    const unused = () => {
      throw new Error('not part of this test')
    }
    return {
      listMcpPage: async ({ page }) => ({ ok: true, requestId: 'r', requests: 1, data: this.page(page) }),
      listAlertRules: unused,
      importSubscribers: unused,
      [Symbol.asyncDispose]: async () => {},
    }
  }
}

test('over 1,000 listings that shift while they are read, no server that was there throughout is closed or missed', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const statuses: Record<string, number> = {}
  let account = 0
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 2, max: 9 }),
      fc.array(shift, { maxLength: 60 }),
      async (count, size, shifts) => {
        const name = `shifting-${account++}`
        const platform = new ShiftingPlatform(count, size, shifts)
        const accounts = new Map<string, InventoryAccount>([
          [
            name,
            {
              name,
              client: platform.client(),
              folders: [0n],
              pageLimit: size,
              includeAccount: true,
              keyHash: 'key',
              limitGroup: name,
            },
          ],
        ])
        for (let run = 0; run < 2; run++) {
          const closedBefore = await harness.query(
            'select 1 from ferry.mcp_server_versions where account = $1 and valid_to is not null',
            [name],
          )
          platform.beginRun()
          const request = {
            account: name,
            resource: 'mcp-servers',
            trigger: 'manual',
            acceptRemovals: true,
          } as const
          const result = await syncInventory({ ...harness.ferry, accounts }, request, NEVER)
          statuses[result.status] = (statuses[result.status] ?? 0) + 1
          const rows = await harness.query<{ server_id: string; closed: boolean }>(
            'select server_id, bool_and(valid_to is not null) as closed from ferry.mcp_server_versions where account = $1 group by 1',
            [name],
          )
          const closed = rows.filter(row => row.closed && platform.throughout.has(row.server_id))
          expect(closed, `closed by a run that ${result.status}`).toEqual([])
          if (result.status !== 'succeeded') {
            expect(result.removed).toBe(0)
            expect(
              await harness.query(
                'select 1 from ferry.mcp_server_versions where account = $1 and valid_to is not null',
                [name],
              ),
            ).toHaveLength(closedBefore.length)
            continue
          }
          const current = new Set(rows.filter(row => !row.closed).map(row => row.server_id))
          expect(
            [...platform.throughout].filter(id => !current.has(id)),
            'missed',
          ).toEqual([])
        }
      },
    ),
    { numRuns: 1000, seed: 20261120 },
  )
  // The property says nothing unless each of these came about often.
  expect(statuses.succeeded).toBeGreaterThan(200)
  expect(statuses.partial).toBeGreaterThan(200)
})
