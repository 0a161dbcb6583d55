import fc from 'fast-check'
import { expect, test } from 'vitest'
import { approveRun, rejectRun } from '#src/inventory/holds/approve.ts'
import { createKnownRows } from '#src/inventory/read/known-rows.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { ADA } from '#test/support/acted-by.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { ended, hand, type Listed, refused, scriptedAccount, withAccounts } from './scripted-account.ts'

/*
 * The same things happen to two accounts. One is synced by workers that know the rows they applied, the other by one that
 * knows none. Nobody but they can tell the difference.
 */

const NEVER = new AbortController().signal

const row = fc.record({
  id: fc.integer({ min: 1, max: 7 }).map(BigInt),
  folder: fc.constantFrom(1n, 2n),
  name: fc.constantFrom('old', 'new'),
  firing: fc.boolean(),
  broken: fc.oneof(
    { weight: 20, arbitrary: fc.constant(undefined) },
    { weight: 2, arbitrary: fc.constant('with its id' as const) },
    { weight: 1, arbitrary: fc.constant('without an id' as const) },
  ),
})
const listing = fc
  .uniqueArray(row, { minLength: 3, maxLength: 7, selector: ({ id }) => id })
  .map(rows => rows as Listed[])
/** What is listed, given what the step before listed in the end, and what the first step did. */
const listed = fc.oneof(
  { weight: 1, arbitrary: listing.map(rows => () => rows) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<(last: readonly Listed[], first: readonly Listed[]) => readonly Listed[]>(
      last => last,
      last => last.toReversed(),
      last => last.slice(1),
      (_, first) => first,
    ),
  },
)

const step = fc.record({
  worker: fc.constantFrom(0, 0, 1),
  folders: fc.constantFrom([0n], [0n], [0n], [1n], [1n, 2n]),
  first: listed,
  /** What is listed if it is asked again. */
  second: fc.option(listing, { nil: 'the same' as const, freq: 2 }),
  /** What a first attempt at each listing brings before it is cut. */
  cut: fc.option(listing, { freq: 4 }),
  accepted: fc.constantFrom(false, false, true),
  ending: fc.oneof(
    { weight: 6, arbitrary: fc.constant('good' as const) },
    { weight: 1, arbitrary: fc.constantFrom('refused' as const, 'second refused' as const) },
  ),
  /** What a person then says of a hold. */
  verdict: fc.constantFrom('none', 'none', 'approve', 'reject'),
})

test('what workers know changes nothing of what they store, whatever is listed and whoever syncs', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  let sequence = 0
  const seen: Record<string, number> = {}
  await fc.assert(
    fc.asyncProperty(listing, fc.array(step, { minLength: 2, maxLength: 8 }), async (base, steps) => {
      sequence += 1
      const warm = [createKnownRows(1_000), createKnownRows(1_000)]
      let last: readonly Listed[] = base
      for (const { worker, folders, first, second, cut, accepted, ending, verdict } of steps) {
        const one = first(last, base)
        const two = second === 'the same' ? one : second
        const outcomes = []
        for (const kind of ['warm', 'cold'] as const) {
          const account = `${kind} ${sequence}`
          let calls = 0
          const scripted = scriptedAccount(account, () => [])
          const listAlertRules: typeof scripted.client.listAlertRules = async function* (folder, find) {
            const isFirst = ++calls <= folders.length
            const inFolder = (rows: readonly Listed[]) =>
              rows.filter(rule => folder === 0n || rule.folder === folder)
            if (cut) yield* hand(inFolder(cut), find)
            const answer = yield* hand(inFolder(isFirst ? one : two), find)
            const isRefused = ending === (isFirst ? 'refused' : 'second refused')
            yield ended(isRefused ? refused('AccessDenied') : answer)
          }
          const context = {
            ...withAccounts(harness, { ...scripted, client: { ...scripted.client, listAlertRules } }),
            removalGuard: { rows: 1, share: 0.25 },
            knownRows: kind === 'warm' ? warm[worker]! : createKnownRows(0),
          }
          const request = { account, resource: 'alert-rules', trigger: 'manual', folders } as const
          const result = await syncInventory(context, { ...request, acceptRemovals: accepted }, NEVER)
          const said: unknown[] = [tellable(result)]
          if (result.status === 'held' && verdict === 'reject')
            said.push(await rejectRun(context, result.run, { ...ADA, actor: 'Ada' }))
          if (result.status === 'held' && verdict === 'approve')
            said.push(tellable(await approveRun(context, result.run, ADA, NEVER)))
          outcomes.push(said)
          seen[result.status] = (seen[result.status] ?? 0) + 1
        }
        expect(outcomes[0]).toEqual(outcomes[1])
        last = two
      }
      const [stored, wanted] = await Promise.all(
        ['warm', 'cold'].map(kind =>
          Promise.all(STORED.map(sql => harness.query(sql, [`${kind} ${sequence}`]))),
        ),
      )
      expect(stored).toEqual(wanted)
    }),
    { numRuns: 40, seed: 20261122 },
  )
  // The law says nothing unless each of these came about often.
  for (const status of ['succeeded', 'partial', 'held', 'failed']) expect(seen[status]).toBeGreaterThan(10)
})

/** All of a result that does not differ between two accounts; run ids in messages do. */
function tellable({ account: _, run, durationMs: __, ...result }: Awaited<ReturnType<typeof syncInventory>>) {
  return { ...result, message: result.message?.replaceAll(`${run}`, 'ID').replace(/run \d+/g, 'run ID') }
}

/** The number of a run among those of its account. */
const nth = (run: string) =>
  `(select count(*)::int from ferry.sync_runs n where n.account = r.account and n.id <= r.${run}) as ${run}`

/** What is stored of an account, without anything that differs between two. */
const STORED = [
  `select id::text, folder_id::text, name, triggered from ferry.alert_rules r where account = $1 order by id`,
  `select id::text, folder_id::text, name, fingerprint, ${nth('opened_by_run')}, ${nth('closed_by_run')}
   from ferry.alert_rule_versions r where account = $1 order by id, valid_from`,
  `select id::text, ${nth('began_run')}, ${nth('ended_run')}
   from ferry.alert_rule_firings r where account = $1 order by id, began`,
  `select status, seen, added, changed, removed, unchanged, quarantined, fired, recovered, requests, pages, data_hashes,
     error_code, applied_at is null as nothing from ferry.sync_runs r where account = $1 order by id`,
  `select ids, outcome, rejected_ids, ${nth('opened_by_run')}, ${nth('last_run')}
   from ferry.removal_holds r where account = $1 order by id`,
  `select q.position, q.id, q.reason, (select count(*)::int from ferry.sync_runs n where n.account = $1 and n.id <= q.run_id) as run,
     (select count(*)::int from ferry.sync_runs n where n.account = $1 and n.id <= q.until_run) as until
   from ferry.quarantined_rows q join ferry.sync_runs r on r.id = q.run_id where r.account = $1 order by q.run_id, q.position`,
]
