import { describe, expect, test } from 'vitest'
import { OwnCall } from '#src/db/known-database.ts'
import { acquireLease } from '#src/db/leases.ts'
import type { ImportContext } from '#src/imports/context.ts'
import { cancelImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { leaseNameOf } from '#src/imports/page.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { newClaim } from '#src/imports/sending/claims.ts'
import { sendBatch } from '#src/imports/sending/send.ts'
import { startImport } from '#src/imports/sending/start.ts'
import { stepsOf } from '#src/imports/sending/steps.ts'
import { findImport } from '#src/imports/sending/work.ts'
import type { FaultInput } from '#src/sandbox/faults.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import {
  ACCEPTED,
  LOST,
  naming,
  type ScriptedAnswer,
  sendAll,
  sendBatches,
  UNAVAILABLE,
} from '#test/support/scripted-worker.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { APPLIED_AND_FAILED, during, NEVER, openImportHarness } from '../import-harness.ts'

/** What happens to an import while a call of it is under way. */

describe('while a call fails that pauses the import', () => {
  const NINE_FAILURES = Array(9).fill(UNAVAILABLE)
  const ELEVEN_REFUSALS = Array.from({ length: 11 }, (_, n) => naming(`p${n + 2}@example.com`))
  const FAILING: [why: string, before: readonly ScriptedAnswer[], fault: FaultInput & { code: string }][] = [
    ['the platform refuses the key', [], { kind: 'error', code: 'Unauthorized' }],
    ['it is the tenth failure', NINE_FAILURES, { kind: 'error', code: 'ServiceUnavailable' }],
    ['it is the twelfth refusal', ELEVEN_REFUSALS, { kind: 'error', code: 'InvalidParameter' }],
    [
      'there is no such page',
      [],
      { kind: 'error', code: 'ResourceNotFound', message: `${SANDBOX_PAGE_ID}?` },
    ],
  ]

  test.for(FAILING)(
    'a person may cancel it, and is told if they paused it: %s',
    async ([, before, fault]) => {
      await using harness = await openImportHarness()
      const { pool } = harness.ferry
      const stage = async () => {
        const id = await harness.stage({ rows: 13 })
        await sendBatches(pool, id, before)
        await ageImport(pool, id, '1 hour')
        return id
      }
      const cancelled = await stage()
      during(harness, () => cancelImport(pool, cancelled, ADA), fault)
      expect(await harness.work(cancelled)).toBe('cancelled')
      expect(await harness.importRow(cancelled)).toMatchObject({
        finished_at: expect.any(Date),
        pause_code: null,
        pause_request_id: null,
      })
      expect(await loadSummary(pool, cancelled)).toMatchObject({
        status: 'cancelled',
        pending: 13,
        uncertain: 0,
      })

      const paused = await stage()
      during(harness, () => pauseImport(pool, paused, ADA), fault)
      expect(await harness.work(paused)).toBe('paused')
      expect(await harness.importRow(paused)).toMatchObject({
        pause_message: expect.stringMatching(/^A person paused it\. ./),
        pause_code: fault.code,
        pause_request_id: expect.stringMatching(/./),
      })
      await cancelImport(pool, paused, ADA)

      const resumed = await stage()
      const pauseAndResume = async () => {
        await pauseImport(pool, resumed, ADA)
        await resumeImport(pool, resumed, ADA)
      }
      during(harness, pauseAndResume, fault)
      // Whoever resumes it gives it ten more failures.
      const isTenth = before === NINE_FAILURES
      expect(await harness.work(resumed)).toBe(isTenth ? 'waiting' : 'paused')
      expect(await harness.importRow(resumed)).toMatchObject({ pause_code: isTenth ? null : fault.code })
    },
  )
})

test('after calls that failed there is one at a time, until one is accepted', async () => {
  await using harness = await openImportHarness({}, { FERRY_REQUEST_TIMEOUT: '30s' })
  const id = await harness.stage({ rows: 13, batchRows: 1 })
  await sendBatches(harness.ferry.pool, id, [ACCEPTED])
  let [begun, isAlone] = [0, true]
  harness.sandbox.state.onCall(async () => {
    const nth = ++begun
    if (nth <= 4) {
      await waitFor(() => begun >= 4, { what: 'four calls' })
      return { kind: 'error', code: 'ServiceUnavailable' }
    }
    if (nth > 5) return undefined
    // Whoever were to come beside it would come now.
    await waitFor(() => begun > 5, { what: 'nobody', timeoutMs: 1_500 }).catch(() => {})
    isAlone = begun === 5
    return undefined
  })
  const working = harness.work(id)
  const failures = async () => (await harness.importRow(id)).failures
  await waitFor(async () => (await failures()) === 4, { what: 'four failures' })
  await ageImport(harness.ferry.pool, id, '1 hour')
  expect(await working).toBe('completed')
  expect({ begun, isAlone }).toEqual({ begun: 16, isAlone: true })
})

test('a permit that was never handed out is returned, and its batch is as if it had not been claimed', async () => {
  await using harness = await openImportHarness()
  const { pool, accounts, holder, log, arrivalBoundMs, requestTimeoutMs } = harness.ferry as ImportContext
  const { importLimit: limit, client } = accounts.get('default')!
  const importId = await harness.stage({ rows: 3 })
  const lease = await acquireLease(pool, leaseNameOf((await findImport(pool, importId))!), holder, log)
  if ('heldBy' in lease) throw new Error('the lease is taken')
  await startImport(pool, importId, lease, NEVER)
  const claimMs = arrivalBoundMs + requestTimeoutMs
  const context = {
    pool,
    importId,
    account: 'default',
    lease,
    limit,
    arrivalBoundMs,
    claimMs,
    ownCall: new OwnCall(),
    noticeDatabase: async () => null,
  }
  const cutOff = AbortSignal.abort()
  const steps = stepsOf(context, cutOff)
  const claimed = await steps.claim(newClaim())
  if (claimed.what !== 'claimed') throw new Error(`nothing was claimed: ${claimed.what}`)
  const sender = { steps, client, pageId: SANDBOX_PAGE_ID, method: 'email', cutOff, log }
  expect(await sendBatch(sender, claimed.claim)).toBeNull()
  await lease.release()
  expect(harness.calls()).toBe(0)
  expect(await harness.query('select from ferry.platform_calls')).toEqual([])
  expect(
    await harness.query(
      'select state, claim, call_id, claim_ends_at, resends, uncertain from ferry.import_batches',
    ),
  ).toEqual([
    { state: 'ready', claim: null, call_id: null, claim_ends_at: null, resends: 0, uncertain: false },
  ])
  expect(await loadSummary(pool, importId)).toMatchObject({ requests: 0, pending: 3 })
})

test('what was uncertain stays so after a refusal, until a certain outcome', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 2 })
  const uncertain: boolean[] = []
  harness.sandbox.state.onCall(async ({ number }) => {
    uncertain.push((await harness.batches(id))[0]?.uncertain ?? false)
    if (number === 1) return APPLIED_AND_FAILED
    return number === 2 ? { kind: 'error', code: 'ServiceUnavailable' } : undefined
  })
  await waitFor(
    async () => {
      // The import backs off after a failure; nobody needs to wait for that here.
      await ageImport(harness.ferry.pool, id, '1 hour')
      return (await harness.work(id)) === 'completed'
    },
    { what: 'the import to end' },
  )
  expect(uncertain).toEqual([false, true, true])
  expect(await harness.batches(id)).toMatchObject([{ state: 'sent', uncertain: false, resends: 1 }])
})

test('a row refused alone is sent alone once more as soon as another call is accepted, and then a reject', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 12, batchRows: 1 })
  const rejected: number[] = []
  harness.sandbox.state.onCall(async ({ body }) => {
    rejected.push((await loadSummary(harness.ferry.pool, id)).rejected)
    const isBad = JSON.stringify(body).includes('"p2@example.com"')
    return isBad ? { kind: 'error', code: 'InvalidParameter', message: 'Not valid.' } : undefined
  })
  expect(await harness.work(id)).toBe('completed')
  expect(rejected).toHaveLength(13)
  expect(rejected.at(-1)).toBe(1)
})

describe('the first rows', () => {
  test('are as many as were asked for, though one is rejected and batches are split', async () => {
    await using harness = await openImportHarness({ maxSubscribers: 2 })
    harness.sandbox.state.onCall(({ body }) =>
      JSON.stringify(body).includes('"p3@example.com"')
        ? { kind: 'error', code: 'InvalidParameter', message: 'A recipient is not valid.' }
        : undefined,
    )
    const id = await harness.stage({ rows: 14, batchRows: 4, firstRows: 5 })
    expect(await harness.work(id)).toBe('paused')
    expect(await harness.importRow(id)).toMatchObject({ pause_code: 'FirstRowsSent' })
    expect(await loadSummary(harness.ferry.pool, id)).toMatchObject({ sent: 4, rejected: 1, pending: 9 })
    expect([...harness.delivered().keys()].sort()).toEqual([2, 4, 5, 6].map(line => `p${line}@example.com`))
    await resumeImport(harness.ferry.pool, id, ADA)
    expect(await harness.work(id)).toBe('completed')
    expect(harness.timesDelivered()).toEqual({ once: 13 })
  })
})

test('what another account has sent to a page of the same number is nothing to this one', async () => {
  await using harness = await openImportHarness()
  const { pool } = harness.ferry
  const other = await harness.stage({ account: 'eu', rows: 4, batchRows: 2, onUncertain: 'hold' })
  await sendBatches(pool, other, [ACCEPTED])
  await sendAll(pool, other, LOST)
  const id = await harness.stage({ rows: 4, onUncertain: 'hold' })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 4 })
  expect(await resolveUncertain(pool, other, 'sent', ADA)).toMatchObject({
    batches: 1,
    status: 'completed',
  })
  expect(await loadSummary(pool, id)).toMatchObject({ sent: 4, alreadyImported: 0 })
})

test('a claim counts until the time limits of its request and of its arrival are both over', async () => {
  await using harness = await openImportHarness()
  const claims: unknown[] = []
  during(harness, async () => {
    claims.push(
      ...(await harness.query(
        `select extract(epoch from claim_ends_at - claimed_at)::float8 * 1000 as ms from ferry.import_batches`,
      )),
    )
  })
  expect(await harness.work(await harness.stage({ rows: 2 }))).toBe('completed')
  const { requestTimeoutMs, arrivalBoundMs } = harness.ferry
  expect(claims).toEqual([{ ms: requestTimeoutMs + arrivalBoundMs }])
})
