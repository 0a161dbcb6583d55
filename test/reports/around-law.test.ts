import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { InventoryAccount } from '#src/inventory/context.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { RESOURCES, type Resource } from '#src/model/resource.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { eventsAround, newWitness, type Shown, type Span, type Witness } from './oracle/around-model.ts'
import { type Platform, platformOf } from './oracle/platform-state.ts'

/*
 * Random hours, a second long: the sandbox changes, two accounts read it in turn, some readings fail. What `ferry.around`
 * shows is compared with what the sandbox was at the complete readings, and with when it really changed.
 */

const NEVER = new AbortController().signal
const TARGET_MS = 40

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('change' as const), what: fc.nat(1_000_000), times: fc.nat(3) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      account: fc.constantFrom('one', 'two'),
      resource: fc.constantFrom<Resource>('alert-rules', 'alert-rules', 'alert-rules', 'mcp-servers'),
      folder: fc.constantFrom(0, 0, 0, 1, 2),
      accepted: fc.constantFrom(false, true, true),
      fails: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const) }) },
)

test('what is shown happened in the time that is claimed, all that was read is shown, and blind time is', async () => {
  const seen: Record<string, number> = {}
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 25, maxLength: 45 }),
      fc.infiniteStream(fc.nat(1_000_000)),
      async (steps, draws) => {
        await using harness = await openFerryHarness({ rules: 0, servers: 0 })
        harness.sandbox.breakContract()
        const platform = platformOf(harness.sandbox.state)
        const witnesses = await readAll(harness, platform, steps)
        const instants = witnesses.flatMap(one =>
          one.readings.flatMap(({ start, applied }) => [start, applied]),
        )
        instants.push(...platform.log.map(({ at }) => at))
        const next = () => draws.next().value as number
        for (let n = 0; n < 12 && instants.length > 0; n++) {
          const at = instants[next() % instants.length] as bigint
          const other = instants[next() % instants.length] as bigint
          // An edge is exactly one of the instants, or the span is none.
          const span = n % 4 === 0 ? 0n : at > other ? at - other : other - at
          await compare(harness, platform, witnesses, { at, span }, seen)
        }
        for (const witness of witnesses) await compareFiring(harness, witness)
      },
    ),
    { numRuns: 20, seed: 20261124, endOnFailure: true },
  )
  // The law says nothing of what never came about.
  for (const kind of EVERY_KIND) expect(seen[kind] ?? 0, kind).toBeGreaterThan(0)
})

const EVERY_KIND = [
  ...['added', 'changed', 'disabled', 'enabled', 'removed', 'returned', 'fired', 'cleared'].map(
    of => `rule.${of}`,
  ),
  ...['added', 'changed', 'removed', 'returned'].map(of => `server.${of}`),
  ...['tool.added', 'tool.removed', 'inventory.first_read', 'removals.held', 'blind', 'while firing'],
]

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

async function readAll(
  harness: FerryHarness,
  platform: Platform,
  steps: readonly Step[],
): Promise<Witness[]> {
  const account = harness.ferry.accounts.get('default') as InventoryAccount
  const accounts = new Map(['one', 'two'].map(name => [name, { ...account, name }]))
  const context = { ...harness.ferry, accounts, removalGuard: { rows: 1, share: 0.25 } }
  await harness.query(
    `insert into ferry.freshness_targets (account, resource, target, schedule, timezone, folders)
     values ('one', 'alert-rules', $1, 'poll', 'UTC', '["0"]'), ('two', 'mcp-servers', $1, 'poll', 'UTC', 'null')`,
    [`${TARGET_MS} ms`],
  )
  const hasTarget = (account: string, resource: Resource) =>
    (account === 'one') === (resource === 'alert-rules')
  const witnesses = ['one', 'two'].flatMap(account =>
    RESOURCES.map(resource =>
      newWitness(account, resource, hasTarget(account, resource) ? BigInt(TARGET_MS * 1000) : null),
    ),
  )
  for (const one of steps) {
    if (one.do === 'wait') await new Promise(resolve => setTimeout(resolve, 2 * TARGET_MS))
    else if (one.do === 'change') {
      for (let n = 0; n <= one.times; n++) platform.change(one.what + n * 7919, await clock(harness))
    } else {
      const { account, resource, folder, accepted, fails } = one
      const folders = resource === 'alert-rules' ? [BigInt(folder)] : undefined
      const witness = witnesses.find(w => w.account === account && w.resource === resource) as Witness
      if (folder !== 0 && resource === 'alert-rules') {
        const isUnsure =
          witness.isUnsure() || [...platform.truthOf(resource).values()].some(({ broken }) => broken)
        if (isUnsure || !harness.sandbox.state.folders.has(BigInt(folder))) continue
      }
      if (fails) harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' })
      const request = {
        account,
        resource,
        trigger: 'manual' as const,
        ...(folders && { folders }),
        acceptRemovals: accepted,
      }
      const result = await syncInventory(context, request, NEVER)
      harness.sandbox.state.clearFaults()
      const [run] = await harness.query<{ start: string; applied: string }>(
        `select ${MICROS('started_at')} as start, ${MICROS('applied_at')} as applied from ferry.sync_runs where id = $1`,
        [result.run],
      )
      if (fails) {
        expect(result.status).toBe('failed')
        witness.seeFailure()
        continue
      }
      witness.see({
        run: BigInt(result.run ?? 0),
        start: BigInt(run?.start ?? 0),
        applied: BigInt(run?.applied ?? 0),
        folder: resource === 'alert-rules' ? `${folder}` : '0',
        accepted,
        truth: platform.truthOf(resource),
        status: result.status,
      })
    }
  }
  // What was read last is late by now, too.
  await new Promise(resolve => setTimeout(resolve, TARGET_MS + 5))
  return witnesses
}

const MICROS = (instant: string) => `(extract(epoch from ${instant}) * 1000000)::bigint::text`

async function clock({ query }: FerryHarness): Promise<bigint> {
  const [row] = await query<{ at: string }>(`select ${MICROS('clock_timestamp()')} as at`)
  return BigInt(row?.at ?? 0)
}

async function compare(
  harness: FerryHarness,
  platform: Platform,
  witnesses: readonly Witness[],
  span: Span,
  seen: Record<string, number>,
) {
  const rows = await harness.query<Shown>(
    `select kind, account, inventory, id, ${MICROS('since')} as since, ${MICROS('observed_at')} as at, while_firing as silenced
     from ferry.around('epoch'::timestamptz + $1::bigint * interval '1 us', $2::bigint * interval '1 us')
     where kind <> 'decision'`,
    [`${span.at}`, `${span.span}`],
  )
  for (const { kind, silenced } of rows) {
    seen[kind] = (seen[kind] ?? 0) + 1
    if (silenced && kind !== 'rule.added') seen['while firing'] = (seen['while firing'] ?? 0) + 1
  }
  // In the order of observation; what is not over comes last.
  const order = rows.map(({ at }) => (at === null ? null : BigInt(at)))
  expect(order).toEqual(
    order.toSorted((a, b) => (a === null ? 1 : b === null ? -1 : a < b ? -1 : a > b ? 1 : 0)),
  )
  const text = (row: Shown) =>
    [
      row.kind,
      row.account,
      row.inventory,
      row.id,
      row.since,
      row.at,
      row.kind === 'rule.added' ? null : row.silenced,
    ].join(' ')
  const wanted = witnesses.flatMap(witness => eventsAround(witness, span))
  expect(rows.map(text).toSorted()).toEqual(wanted.map(text).toSorted())

  // What is claimed is true: what differs had the one state when the time that is shown begins, and the other at its end.
  for (const { kind, inventory, id, since, at } of rows) {
    if (id === null || at === null) continue
    const happened = platform.log.some(
      one =>
        one.resource === inventory &&
        one.id === id &&
        one.at <= BigInt(at) &&
        (since === null || one.at > BigInt(since)),
    )
    expect(happened, `${kind} of ${id}`).toBe(true)
  }
}

/**
 * At the instant of each complete reading, what is current and fired is shown as firing. It is known unless the reading could not read
 * it, or its removal was held. In blind time nothing is.
 */
async function compareFiring(harness: FerryHarness, { account, resource, readings, blind }: Witness) {
  if (resource !== 'alert-rules') return
  const at = (instant: bigint) =>
    harness.query<{ id: string; known: boolean }>(
      `select id::text, known from ferry.firing_at('epoch'::timestamptz + $1::bigint * interval '1 us') where account = $2 order by id`,
      [`${instant}`, account],
    )
  for (const { applied, firing, folder } of readings) {
    // A reading of one folder says nothing of the others.
    if (folder !== '0') continue
    const shown = await at(applied)
    expect(shown).toEqual(
      [...firing].map(([id, known], n) => ({ id, known: known === 'either' ? shown[n]?.known : known })),
    )
  }
  for (const { since, at: until } of blind) {
    if (until === null || since === null) continue
    const shown = await at((since + until) / 2n)
    expect(shown.filter(({ known }) => known)).toEqual([])
  }
}
