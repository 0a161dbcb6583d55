import { expect, test } from 'vitest'
import { approveRun, NothingToApprove, rejectRun } from '#src/inventory/holds/approve.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { ADA } from '#test/support/acted-by.ts'
import type { FerryHarness } from '#test/support/ferry-harness.ts'
import { approve, FOLDER_1, FOLDER_2, keep, openHolds, openKnown, outcomes } from './known-rules.ts'
import { currentIds, scriptedAccount, syncListed, upTo, withAccounts } from './scripted-account.ts'

/* A hold that later runs made larger: a decision is about what was looked at. */

function openEvents(harness: FerryHarness) {
  return harness.query(`select kind, data ->> 'rows' as rows from ferry.events where is_open`)
}

const NEVER = new AbortController().signal

test('of a hold that grew, an approval removes only what its run held; the rest waits, however few they are', async () => {
  await using harness = await openKnown()
  const first = await syncListed(harness, [keep(...upTo(22))])
  await syncListed(harness, [keep(...upTo(21))])
  const last = await syncListed(harness, [keep(...upTo(20))])
  // Rule 23 is listed again, and rule 20 is missing, which no run has held yet.
  const listed = keep(...upTo(19), 23)
  expect(await approve(harness, first.run, listed)).toMatchObject({
    removed: 17,
    message: `2 rows that only later runs hold stay held: \`ferry runs show ${last.run}\` shows them.`,
  })
  expect(await currentIds(harness)).toEqual(upTo(23))
  expect(await openHolds(harness)).toMatchObject([{ ids: [21, 22] }])
  expect(
    await harness.query(`select subject_id, rows, of_rows from ferry.audit where action = 'approve'`),
  ).toEqual([{ subject_id: `${first.run}`, rows: 18, of_rows: 20 }])
  await expect(approve(harness, first.run, listed)).rejects.toThrow(NothingToApprove)

  // Three of 23 rows are within the guard; a person has not said yet what becomes of two of them.
  const next = await syncListed(harness, [listed])
  expect(next).toMatchObject({ status: 'held', removed: 0 })
  expect(await openHolds(harness)).toMatchObject([{ ids: [20, 21, 22] }])
  expect(await approve(harness, last.run, listed)).toMatchObject({ removed: 2 })
  expect(await approve(harness, next.run, listed)).toMatchObject({ removed: 1, message: null })
  expect(await outcomes(harness)).toEqual([18, 2, 1].map(ids => ({ outcome: 'approved', ids })))
})

test('what was left held stays held when a run of other folders takes the place of the hold', async () => {
  await using harness = await openKnown()
  const first = await syncListed(harness, [keep(...upTo(20), ...upTo(40).slice(35))])
  await syncListed(harness, [keep(...upTo(19), ...upTo(40).slice(35))])
  const listed = keep(...upTo(19), ...upTo(40).slice(35))
  expect(await approve(harness, first.run, listed)).toMatchObject({ removed: 15 })
  expect(await openHolds(harness)).toMatchObject([{ ids: [20] }])
  expect(await syncListed(harness, [listed], FOLDER_1)).toMatchObject({ status: 'held' })
  expect(await syncListed(harness, [listed])).toMatchObject({ status: 'held' })
  expect(await syncListed(harness, [keep(...upTo(20), ...upTo(40).slice(35))])).toMatchObject({
    status: 'succeeded',
  })
  expect(await openHolds(harness)).toEqual([])
})

test('of a hold that grew, a rejection keeps only what its run held; the rest waits, however few they are', async () => {
  await using harness = await openKnown()
  const first = await syncListed(harness, [keep(...upTo(22))])
  const last = await syncListed(harness, [keep(...upTo(20))])
  expect(await rejectRun(harness.ferry, first.run, ADA)).toBe(18)
  expect(await openHolds(harness)).toMatchObject([{ ids: [21, 22] }])
  expect(await outcomes(harness)).toEqual([
    { outcome: 'rejected', ids: 18 },
    { outcome: null, ids: 2 },
  ])
  expect(await harness.query('select action, rows, of_rows from ferry.audit')).toEqual([
    { action: 'reject', rows: 18, of_rows: 20 },
  ])
  expect(await openEvents(harness)).toEqual([{ kind: 'removals.held', rows: '2' }])
  await expect(rejectRun(harness.ferry, first.run, ADA)).rejects.toThrow(NothingToApprove)

  // The platform still lacks both, and one more: a person is asked about what nobody decided, and only about that.
  const next = await syncListed(harness, [keep(...upTo(19))])
  expect(next).toMatchObject({ status: 'held', removed: 0 })
  expect(next.message).toContain(
    `3 more of 40 rows are gone from the listing; 18 others were kept by a decision on run`,
  )
  expect(await openHolds(harness)).toMatchObject([{ ids: [20, 21, 22] }])
  expect(await approve(harness, last.run, keep(...upTo(19)))).toMatchObject({ removed: 2 })
  expect(await rejectRun(harness.ferry, next.run, ADA)).toBe(1)
  expect(await openHolds(harness)).toEqual([])

  // Both rejections hold on; what came back becomes an ordinary row.
  const calm = await syncListed(harness, [keep(...upTo(19), 23)])
  expect(calm).toMatchObject({ status: 'succeeded', removed: 0 })
  expect(calm.message).toContain('18 rows are not listed and kept, because their removal was rejected')
  expect(await currentIds(harness)).toEqual([...upTo(20), ...upTo(40).slice(22)])
})

test('what stayed held when others were rejected waits for a person also once the others are listed again', async () => {
  await using harness = await openKnown()
  const first = await syncListed(harness, [keep(...upTo(22))])
  await syncListed(harness, [keep(...upTo(21))])
  expect(await rejectRun(harness.ferry, first.run, ADA)).toBe(18)
  const back = keep(...upTo(21), ...upTo(40).slice(22))
  expect(await syncListed(harness, [back])).toMatchObject({ status: 'held', removed: 0 })
  expect(await openHolds(harness)).toMatchObject([{ ids: [22] }])
})

test('a row that came back and is gone again is one that the earlier run did not hold', async () => {
  await using harness = await openKnown()
  const first = await syncListed(harness, [keep(...upTo(20))])
  await syncListed(harness, [keep(...upTo(21))])
  const smaller = await syncListed(harness, [keep(...upTo(22))])
  await syncListed(harness, [keep(...upTo(20))])
  expect(await rejectRun(harness.ferry, smaller.run, ADA)).toBe(18)
  await expect(rejectRun(harness.ferry, first.run, ADA)).rejects.toThrow(NothingToApprove)
  expect(await openHolds(harness)).toMatchObject([{ ids: [21, 22] }])
})

test('a row that came back and is gone again is not approved by the earlier run either', async () => {
  await using harness = await openKnown()
  const first = await syncListed(harness, [keep(...upTo(20))])
  await syncListed(harness, [keep(...upTo(22))])
  await syncListed(harness, [keep(...upTo(20))])
  expect(await approve(harness, first.run, keep(...upTo(20)))).toMatchObject({ removed: 18 })
  expect(await openHolds(harness)).toMatchObject([{ ids: [21, 22] }])
})

test('two people approve at once what two runs held: each removes its rows, and none twice', async () => {
  await using harness = await openKnown()
  const first = await syncListed(harness, [keep(...upTo(22))])
  const last = await syncListed(harness, [keep(...upTo(20))])
  const context = withAccounts(
    harness,
    scriptedAccount('default', () => keep(...upTo(20))),
  )
  const ends = await Promise.allSettled(
    [first, last].map(({ run }) => approveRun(context, run, ADA, NEVER, { waitsForOther: true })),
  )
  expect(await currentIds(harness)).toEqual(upTo(20))
  const removed = ends.map(end => (end.status === 'fulfilled' ? end.value.removed : 0))
  // If that of all rows is the first, nothing is left for the other.
  expect([
    [18, 2],
    [0, 20],
  ]).toContainEqual(removed)
  expect(await harness.query(`select from ferry.removal_holds where ended_at is null`)).toEqual([])
})

test('an approval that waits for a run decides about what was held before, less what that run found again', async () => {
  await using harness = await openKnown()
  const first = await syncListed(harness, [keep(...upTo(20))])
  const under = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const listed = keep(...upTo(19), 40)
  const account = scriptedAccount('default', () => listed)
  const listAlertRules: typeof account.client.listAlertRules = async function* (...listing) {
    under.resolve()
    await go.promise
    yield* account.client.listAlertRules(...listing)
  }
  const slow = { ...account, client: { ...account.client, listAlertRules } }
  const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
  const held = syncInventory(withAccounts(harness, slow), request, NEVER)
  await under.promise
  const gone = withAccounts(
    harness,
    scriptedAccount('default', () => keep(...upTo(19))),
  )
  // It has looked at the hold once it asks for the account.
  const looked = Promise.withResolvers<void>()
  const accounts = new Map(gone.accounts)
  accounts.get = name => {
    looked.resolve()
    return gone.accounts.get(name)
  }
  const approval = approveRun({ ...gone, accounts }, first.run, ADA, NEVER, { waitsForOther: true })
  await looked.promise
  go.resolve()
  expect(await held).toMatchObject({ status: 'held' })
  expect(await approval).toMatchObject({ removed: 19 })
  expect(await currentIds(harness)).toEqual([...upTo(20), 40])
  expect(await openHolds(harness)).toMatchObject([{ ids: [20] }])
})

test('what was left held stays held also if a run of other folders is held in between', async () => {
  await using harness = await openKnown()
  const listed = (...missing: number[]) => [keep(...upTo(40).filter(id => !missing.includes(id)))]
  const first = upTo(15)
  const { run } = await syncListed(harness, listed(...first), FOLDER_1)
  await syncListed(harness, listed(...first, 16), FOLDER_1)
  expect(await approve(harness, run, listed(...first, 16)[0]!)).toMatchObject({ removed: 15 })
  const others = upTo(36).slice(20)
  expect(await syncListed(harness, listed(...first, 16, ...others), FOLDER_2)).toMatchObject({
    status: 'held',
  })
  // The first run with another key decides about nothing.
  const newKey = { ...FOLDER_1, keyHash: 'another key' }
  expect(await syncListed(harness, listed(...first, 16), newKey)).toMatchObject({ removed: 0 })
  for (let poll = 0; poll < 2; poll++) {
    const again = await syncListed(harness, listed(...first, 16), newKey)
    expect(again).toMatchObject({ status: 'held', removed: 0 })
    expect(await openHolds(harness)).toMatchObject([{ ids: [16] }])
  }

  // Once it was listed again, it is a row like any other.
  expect(await syncListed(harness, listed(...first), newKey)).toMatchObject({ status: 'succeeded' })
  expect(await syncListed(harness, listed(...first, 16), newKey)).toMatchObject({ removed: 1 })
})
