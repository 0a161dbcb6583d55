import { expect, test } from 'vitest'
import type { InventoryContext } from '#src/inventory/context.ts'
import { saveSnapshot } from '#src/inventory/history/snapshots.ts'
import { createKnownRows } from '#src/inventory/read/known-rows.ts'
import { failRunsBefore } from '#src/inventory/runs/lost-runs.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import type { RunResult } from '#src/model/run.ts'
import type { Answer } from '#src/platform/answer.ts'
import type { PlatformClient } from '#src/platform/client.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { expireLeases, takeOverLeases } from '#test/support/leases.ts'
import { ON_VERSIONS } from '#test/support/locks.ts'
import { NEW_RUN } from '#test/support/runs.ts'
import { waitFor } from '#test/support/wait-for.ts'
import {
  ended,
  hand,
  handOn,
  list,
  refused,
  rules,
  scriptedAccount,
  upTo,
  withAccounts,
} from './scripted-account.ts'

/*
 * Runs that change so much that it is written while the listing is being read.
 */

const SMALL = { rules: 0, servers: 0 }
const MANY = upTo(5_000)
const OLD = rules(MANY, { name: 'old' })
const NEW = rules(MANY, { name: 'new', firing: true })

type ListRules = PlatformClient['listAlertRules']
type Find = Parameters<ListRules>[1]

const REFUSED = refused('AccessDenied')

/** A context whose account lists rules in this way. `n` counts the calls, from 1. */
function listing(
  harness: FerryHarness,
  how: (find: Find, n: number, folder: bigint) => ReturnType<ListRules>,
): InventoryContext {
  let calls = 0
  const account = scriptedAccount('default', () => [])
  const listAlertRules: ListRules = async function* (folder, find, { signal }) {
    try {
      yield* how(find, ++calls, folder)
    } finally {
      signal.throwIfAborted()
    }
  }
  return {
    ...withAccounts(harness, { ...account, client: { ...account.client, listAlertRules } }),
    removalGuard: { rows: 10, share: 0.2 },
  }
}

function sync(
  context: InventoryContext,
  { signal = new AbortController().signal, folders = [0n] } = {},
): Promise<RunResult> {
  return syncInventory(
    context,
    { account: 'default', resource: 'alert-rules', trigger: 'manual', folders },
    signal,
  )
}

/** A lock of whoever writes versions. */
const IS_WRITING = `${ON_VERSIONS} and mode = 'RowExclusiveLock'`

/** How many transactions have written versions and are open. */
async function writing(harness: FerryHarness): Promise<number> {
  const locks = await harness.query(
    `select distinct pid from pg_locks
     where ${IS_WRITING}`,
  )
  return locks.length
}

/** What readers see, on another connection. */
async function seen(harness: FerryHarness) {
  const [row] = await harness.query(
    `select (select json_object_agg(name, count) from (select name, count(*) from ferry.alert_rules group by 1) r) as rules,
       (select count(*)::int from ferry.alert_rule_versions) as versions,
       (select count(*)::int from ferry.alert_rule_firings where ended is null) as firing,
       (select count(*)::int from ferry.alert_rule_changes) as changes`,
  )
  return row
}

const NOTHING = { rules: null, versions: 0, firing: 0, changes: 0 }
const FIRST = { rules: { old: 5_000 }, versions: 5_000, firing: 0, changes: 5_000 }
const CHANGED = { rules: { new: 5_000 }, versions: 10_000, firing: 5_000, changes: 10_000 }

test('much is written while the listing is being read, and nobody sees any of it before its end', async () => {
  await using harness = await openFerryHarness(SMALL)
  for (const [rows, before, after] of [
    [OLD, NOTHING, FIRST],
    [NEW, FIRST, CHANGED],
  ] as const) {
    const rest = Promise.withResolvers<void>()
    const syncing = sync(
      listing(harness, async function* (find) {
        const answer = yield* hand(rows, find)
        await rest.promise
        yield ended(answer)
      }),
    )
    await waitFor(async () => (await writing(harness)) === 1, { what: 'the changes to be written' })
    expect(await seen(harness)).toEqual(before)
    rest.resolve()
    expect(await syncing).toMatchObject({ status: 'succeeded', seen: 5_000 })
    expect(await seen(harness)).toEqual(after)
    expect(await writing(harness)).toBe(0)
  }
})

test('a first listing is one COPY, which ends before a pause of the platform makes it look abandoned', async () => {
  await using harness = await openFerryHarness(SMALL)
  const copied = (least: number) =>
    waitFor(
      async () => {
        const copies = await harness.query('select from pg_stat_progress_copy where tuples_processed >= $1', [
          least,
        ])
        return copies.length === 1
      },
      { what: `${least} rows in one COPY` },
    )
  /** After the COPY something was asked, which keeps the transaction from being ended as an idle one. */
  const isAlive = async () => {
    const writers = await harness.query(
      `select state, query from pg_stat_activity where pid in (select pid from pg_locks where ${IS_WRITING})`,
    )
    return writers[0]?.state === 'idle in transaction' && writers[0].query === 'select'
  }
  const result = await sync(
    listing(harness, async function* (find) {
      yield* hand(OLD, find)
      await copied(3_000)
      const answer = yield* handOn(rules(upTo(3_000).map(n => n + 5_000)), find)
      await copied(6_000)
      await waitFor(isAlive, { what: 'its end, and a sign of life' })
      yield* handOn(
        rules(
          upTo(2_000).map(n => n + 8_000),
          { firing: true },
        ),
        find,
      )
      yield ended(answer)
    }),
  )
  expect(result).toMatchObject({ status: 'succeeded', added: 10_000 })
  expect(await seen(harness)).toMatchObject({ versions: 10_000, firing: 2_000 })
})

type Mishap = {
  readonly meanwhile?: (harness: FerryHarness, stop: AbortController) => Promise<unknown> | unknown
  readonly instead?: () => Answer<never>
  readonly ends: Partial<RunResult> | string
}

const MISHAPS: Readonly<Record<string, Mishap>> = {
  'is told to stop': {
    meanwhile: (_, stop) => stop.abort(),
    ends: { status: 'failed', errorCode: 'Interrupted' },
  },
  'is refused the rest': {
    instead: () => REFUSED,
    ends: { status: 'failed', errorCode: 'AccessDenied' },
  },
  'meets a fault': {
    instead: () => {
      throw new Error('a fault of ours')
    },
    ends: 'a fault of ours',
  },
  'loses its lease': {
    meanwhile: harness => expireLeases(harness.ferry.pool),
    ends: { status: 'failed', errorCode: 'LeaseLost' },
  },
  'loses its lease to another worker': {
    meanwhile: harness => takeOverLeases(harness.ferry.pool),
    ends: { status: 'failed', errorCode: 'LeaseLost' },
  },
  'is called lost': {
    meanwhile: harness => failRunsBefore(harness.ferry.pool, NEW_RUN, crypto.randomUUID()),
    ends: { status: 'failed', errorCode: 'LeaseLost' },
  },
  'sees a snapshot being taken': {
    meanwhile: takeSnapshotNow,
    ends: { status: 'failed', errorCode: 'InstantPassed' },
  },
  'loses its connection to Postgres': {
    meanwhile: harness =>
      harness.query(
        `select pg_terminate_backend(pid) from pg_locks
         where ${IS_WRITING}`,
      ),
    ends: 'cannot be reached',
  },
}

for (const [what, { meanwhile, instead, ends }] of Object.entries(MISHAPS)) {
  test(`a run that ${what} after it wrote leaves nothing behind, and the next one is right`, async () => {
    await using harness = await openFerryHarness(SMALL)
    await using other = await harness.openFerry()
    const knownRows = createKnownRows(1_000_000)
    const warm = (context: InventoryContext) => ({ ...context, knownRows, leaseMs: 60_000 })
    await sync(warm(listing(harness, find => list(OLD, find))))
    const stop = new AbortController()
    const failing = sync(
      warm(
        listing(harness, async function* (find) {
          const answer = yield* hand(NEW, find)
          await waitFor(async () => (await writing(harness)) === 1, { what: 'the changes to be written' })
          await meanwhile?.({ ...harness, ferry: other }, stop)
          yield ended(instead ? instead() : answer)
        }),
      ),
      { signal: stop.signal },
    )
    if (typeof ends === 'string') await expect(failing).rejects.toThrow(ends)
    else expect(await failing).toMatchObject({ ...ends, added: 0, changed: 0, removed: 0 })
    expect(await seen(harness)).toEqual(FIRST)
    expect(await writing(harness)).toBe(0)

    await harness.query(`delete from ferry.leases`)
    const next = await sync(warm(listing(harness, find => list(NEW, find))))
    expect(next).toMatchObject({ status: 'succeeded', seen: 5_000, changed: 5_000 })
    expect(await seen(harness)).toEqual(CHANGED)
  })
}

async function takeSnapshotNow(harness: FerryHarness): Promise<void> {
  const [run] = await harness.query<{ id: bigint }>('select min(id) as id from ferry.sync_runs')
  const runs = { alertRulesRun: run!.id, mcpServersRun: run!.id }
  await saveSnapshot(harness.ferry.pool, { account: 'default', slot: null, status: 'succeeded', ...runs })
}

test('of a listing that was asked for again after much was written, only the last answer counts', async () => {
  await using harness = await openFerryHarness(SMALL)
  await sync(listing(harness, find => list(OLD, find)))
  const result = await sync(
    listing(harness, async function* (find) {
      yield* hand([...NEW, ...rules([6_000])], find)
      yield* list([...OLD.toReversed().slice(1), ...rules([5_000], { name: 'new' })], find)
    }),
  )
  expect(result).toMatchObject({ seen: 5_000, added: 0, changed: 1, unchanged: 4_999 })
  expect(await seen(harness)).toEqual({
    rules: { old: 4_999, new: 1 },
    versions: 5_001,
    firing: 0,
    changes: 5_001,
  })
})

test('a folder that is asked for again after much was written takes nothing of the others with it', async () => {
  await using harness = await openFerryHarness(SMALL)
  const inFolder = (folder: bigint, from: number) =>
    rules(
      upTo(1_000).map(n => n + from),
      { folder, name: `folder ${folder}` },
    )
  const result = await sync(
    listing(harness, async function* (find, _, folder) {
      if (folder === 1n) return yield* list([...OLD], find)
      yield* hand(inFolder(folder, Number(folder) * 5_000), find)
      yield* list(folder === 2n ? [] : inFolder(folder, 30_000).slice(500), find)
    }),
    { folders: [1n, 2n, 3n] },
  )
  expect(result).toMatchObject({ status: 'succeeded', seen: 5_500, added: 5_500 })
  expect(await seen(harness)).toMatchObject({ rules: { old: 5_000, 'folder 3': 500 }, versions: 5_500 })
})

/** 5,000 rows of which one is gone and all others have another name, listed again in a second way. */
async function secondListing(harness: FerryHarness, second: (find: Find) => ReturnType<ListRules>) {
  await sync(listing(harness, find => list(OLD, find)))
  return sync(listing(harness, (find, n) => (n === 1 ? list(NEW.slice(1), find) : second(find))))
}

test('much that was written is published once a second listing agrees', async () => {
  await using harness = await openFerryHarness(SMALL)
  const result = await secondListing(harness, find => list(NEW.slice(1), find))
  expect(result).toMatchObject({ status: 'succeeded', removed: 1, changed: 4_999, requests: 2 })
  expect(await seen(harness)).toEqual({
    rules: { new: 4_999 },
    versions: 9_999,
    firing: 4_999,
    changes: 10_000,
  })
})
