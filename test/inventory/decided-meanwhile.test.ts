import { expect, test } from 'vitest'
import { approveRun, NothingToApprove, rejectRun } from '#src/inventory/holds/approve.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { ADA } from '#test/support/acted-by.ts'
import type { FerryHarness } from '#test/support/ferry-harness.ts'
import { approve, keep, openHolds, openKnown, outcomes } from './known-rules.ts'
import {
  currentIds,
  type Listed,
  scriptedAccount,
  syncListed,
  upTo,
  withAccounts,
} from './scripted-account.ts'

/* Somebody decides about a hold while a run reads the inventory. */

const NEVER = new AbortController().signal

/** The accounts of a harness, where `work` is done while the listing with this number is read. */
function accountsDuring(
  harness: FerryHarness,
  listed: readonly Listed[],
  listing: number,
  work: () => Promise<unknown>,
) {
  const account = scriptedAccount('default', () => listed)
  let calls = 0
  const listAlertRules: typeof account.client.listAlertRules = async function* (...request) {
    calls += 1
    if (calls === listing) await work()
    yield* account.client.listAlertRules(...request)
  }
  return withAccounts(harness, { ...account, client: { ...account.client, listAlertRules } })
}

/** Polls while run `held` is rejected during the second listing. */
function pollWhileRejected(harness: FerryHarness, listed: readonly Listed[], held: bigint) {
  const context = accountsDuring(harness, listed, 2, () => rejectRun(harness.ferry, held, ADA))
  const request = { account: 'default', resource: 'alert-rules', trigger: 'schedule' } as const
  return syncInventory(context, request, NEVER)
}

test('what is rejected while a poll confirms that it is gone is kept, and not held again', async () => {
  await using harness = await openKnown()
  const held = await syncListed(harness, [keep(...upTo(20))])
  const poll = await pollWhileRejected(harness, keep(...upTo(20)), held.run)
  expect(poll).toMatchObject({ status: 'succeeded', removed: 0 })
  expect(poll.message).toMatch(/^20 rows are not listed and kept, because their removal was rejected/)
  expect(await outcomes(harness)).toEqual([{ outcome: 'rejected', ids: 20 }])
  const events = `select state, is_open from ferry.events where kind = 'removals.held' order by id`
  expect(await harness.query(events)).toEqual([
    { state: 'raised', is_open: false },
    { state: 'resolved', is_open: false },
  ])
})

test('few rows are not removed when the hold that they were in is rejected while a poll confirms that they are gone', async () => {
  await using harness = await openKnown()
  const held = await syncListed(harness, [keep(...upTo(20))])
  const poll = await pollWhileRejected(harness, keep(...upTo(37)), held.run)
  expect(poll).toMatchObject({ status: 'succeeded', removed: 0 })
  expect(await currentIds(harness)).toEqual(upTo(40))
  expect(await outcomes(harness)).toEqual([{ outcome: 'rejected', ids: 20 }])
  // Once they are listed again, they can be removed.
  await syncListed(harness, [keep(...upTo(40))])
  expect(await syncListed(harness, [keep(...upTo(37))])).toMatchObject({ removed: 3 })
})

test.each([
  ['it', 0],
  ['an earlier run', 1],
] as const)(
  'an approval of a run removes nothing when %s is rejected meanwhile, though rows of later runs stay held',
  async (_, approved) => {
    await using harness = await openKnown()
    const first = await syncListed(harness, [keep(...upTo(28))])
    const second = await syncListed(harness, [keep(...upTo(20))])
    const runs = [first.run, second.run]
    const context = accountsDuring(harness, keep(...upTo(20)), 1, () =>
      rejectRun(harness.ferry, first.run, ADA),
    )
    const result = await approveRun(context, runs[approved]!, ADA, NEVER)
    expect(result).toMatchObject({ status: 'failed', removed: 0 })
    expect(result.message).toContain('somebody decided otherwise before they were applied')
    expect(await currentIds(harness)).toEqual(upTo(40))
    expect(await outcomes(harness)).toEqual([
      { outcome: 'rejected', ids: 12 },
      { outcome: null, ids: 8 },
    ])
  },
)

test('rows that were left held and are listed again are no longer held, though others are kept', async () => {
  await using harness = await openKnown()
  const first = await syncListed(harness, [keep(...upTo(22))])
  await syncListed(harness, [keep(...upTo(20))])
  await rejectRun(harness.ferry, first.run, ADA)
  expect(await openHolds(harness)).toMatchObject([{ ids: [21, 22] }])
  expect(await syncListed(harness, [keep(...upTo(22))])).toMatchObject({ status: 'succeeded', removed: 0 })
  expect(await openHolds(harness)).toEqual([])
  await expect(approve(harness, first.run, keep(...upTo(22)))).rejects.toThrow(NothingToApprove)
})
