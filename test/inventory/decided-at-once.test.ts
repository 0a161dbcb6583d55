import { Client } from 'pg'
import { expect, test } from 'vitest'
import { approveRun, NothingToApprove, rejectRun } from '#src/inventory/holds/approve.ts'
import { ADA } from '#test/support/acted-by.ts'
import type { FerryHarness } from '#test/support/ferry-harness.ts'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { keep, openKnown, outcomes } from './known-rules.ts'
import { currentIds, scriptedAccount, syncListed, upTo, withAccounts } from './scripted-account.ts'

const NEVER = new AbortController().signal
/**
 * Approves and rejects a hold at once. `first` is kept from ending by a lock on the audit log, where both write last, until
 * the other one waits too. Returns how both ended.
 */
async function decideAtOnce(harness: FerryHarness, first: 'approve' | 'reject') {
  const held = await syncListed(harness, [keep(...upTo(20))])
  await using opened = new AsyncDisposableStack()
  const locker = new Client({ connectionString: harness.databaseUrl })
  await locker.connect()
  opened.defer(() => locker.end())
  const waiting = (decisions: number) =>
    waitFor(async () => (await harness.query(WAITING_FOR_LOCK)).length === decisions, {
      what: `${decisions} decisions to wait`,
    })
  const account = scriptedAccount('default', () => keep(...upTo(20)))
  const reject = () => rejectRun(harness.ferry, held.run, ADA)
  let rejecting: ReturnType<typeof reject> | undefined
  let calls = 0
  const listAlertRules: typeof account.client.listAlertRules = async function* (...listing) {
    if (++calls === 2) {
      await locker.query('begin; lock table ferry.audit in share mode')
      if (first === 'reject') {
        rejecting = reject()
        rejecting.catch(() => {})
        await waiting(1)
      }
    }
    yield* account.client.listAlertRules(...listing)
  }
  const context = withAccounts(harness, { ...account, client: { ...account.client, listAlertRules } })
  const approving = approveRun(context, held.run, ADA, NEVER)
  if (first === 'approve') {
    await waitFor(() => calls === 2, { what: 'the second listing' })
    await waiting(1)
    rejecting = reject()
  }
  rejecting?.catch(() => {})
  await waiting(2)
  await locker.query('rollback')
  const [approved, rejected] = await Promise.allSettled([approving, rejecting])
  return { approved, rejected }
}

test('a hold that is being approved cannot be rejected at that moment', async () => {
  await using harness = await openKnown()
  const { approved, rejected } = await decideAtOnce(harness, 'approve')
  expect(approved).toMatchObject({ status: 'fulfilled', value: { status: 'succeeded', removed: 20 } })
  expect(rejected).toMatchObject({ status: 'rejected', reason: expect.any(NothingToApprove) })
  expect(await currentIds(harness)).toEqual(upTo(20))
  expect(await outcomes(harness)).toEqual([{ outcome: 'approved', ids: 20 }])
})

test('a hold that is being rejected cannot be approved at that moment', async () => {
  await using harness = await openKnown()
  const { approved, rejected } = await decideAtOnce(harness, 'reject')
  expect(rejected).toMatchObject({ status: 'fulfilled', value: 20 })
  expect(approved).toMatchObject({ status: 'fulfilled', value: { status: 'failed', errorCode: 'HoldEnded' } })
  expect(await currentIds(harness)).toEqual(upTo(40))
  expect(await outcomes(harness)).toEqual([{ outcome: 'rejected', ids: 20 }])
})
