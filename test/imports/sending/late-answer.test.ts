import { expect, test } from 'vitest'
import { cancelImport } from '#src/imports/control/decide.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { loadRows } from '#src/imports/sending/batch-in-flight.ts'
import type { Claim } from '#src/imports/sending/claims.ts'
import { persistOutcome } from '#src/imports/sending/persist-outcome.ts'
import { reclaimImport } from '#src/imports/sending/reclaim.ts'
import type { ImportCall } from '#src/platform/client.ts'
import { notSent } from '#src/platform/refusal.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { rowsUnaccounted } from '#test/support/import-ledger.ts'
import {
  ACCEPTED,
  LOST,
  naming,
  openScriptedWorker,
  type ScriptedAnswer,
  type ScriptedWorker,
  sendAll,
  UNAVAILABLE,
} from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { start } from './start-import.ts'

/** The claim expires and is recorded as uncertain; then, after `meanwhile`, the answer to its call is recorded. */
async function answerLate(
  store: TestStore,
  id: bigint,
  answer: ScriptedAnswer,
  { before = [] as readonly ScriptedAnswer[], meanwhile = async () => {} } = {},
): Promise<void> {
  await using worker = await openScriptedWorker(store.pool, id)
  for (const earlier of before) await worker.send(await worker.claim(), earlier)
  const claim = await worker.claim()
  await ageImport(store.pool, id, '1 hour')
  expect(await reclaimImport(store.pool, id)).toBe(1)
  await meanwhile()
  await worker.send(claim, answer)
}

async function batchesOf(store: TestStore, id: bigint) {
  const { rows } = await store.pool.query(
    'select state, rows, resends, uncertain, error_code from ferry.import_batches where import_id = $1 order by id',
    [id],
  )
  return rows
}

test.for(['resend', 'hold'] as const)(
  'an acceptance that comes after the claim has expired makes the batch sent, and not resent: %s',
  async onUncertain => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 4, batchRows: 2, onUncertain })
    await answerLate(store, id, ACCEPTED)
    expect(await batchesOf(store, id)).toEqual([
      { state: 'sent', rows: 2, resends: 0, uncertain: false, error_code: null },
    ])
    expect(await loadSummary(store.pool, id)).toMatchObject({ sent: 2, uncertain: 0, pending: 2 })
    expect(await rowsUnaccounted(store.pool)).toEqual([])
  },
)

test.for(['resend', 'hold'] as const)(
  'a certain refusal that comes late makes the batch ready as if nothing had been uncertain: %s',
  async onUncertain => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 4, batchRows: 2, onUncertain })
    await answerLate(store, id, UNAVAILABLE)
    expect(await batchesOf(store, id)).toMatchObject([{ state: 'ready', resends: 0, uncertain: false }])
    expect(await loadSummary(store.pool, id)).toMatchObject({ uncertain: 0, pending: 4 })
  },
)

test('what was uncertain before the call stays so after its late refusal', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 2 })
  await answerLate(store, id, UNAVAILABLE, { before: [LOST] })
  expect(await batchesOf(store, id)).toMatchObject([{ state: 'ready', resends: 1, uncertain: true }])
})

test('an answer that is not definite, or comes once the batch was claimed again, changes nothing', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 2 })
  await answerLate(store, id, LOST)
  const uncertain = { state: 'ready', resends: 1, uncertain: true }
  expect(await batchesOf(store, id)).toMatchObject([uncertain])

  const other = await stageRows(store.pool, { rows: 2, pageId: 7n })
  await using worker = await openScriptedWorker(store.pool, other)
  const first = await worker.claim()
  await ageImport(store.pool, other, '1 hour')
  const second = await worker.claim()
  await worker.send(first, ACCEPTED)
  expect(await batchesOf(store, other)).toMatchObject([{ ...uncertain, state: 'in flight' }])
  await worker.send(second, ACCEPTED)
  expect(await batchesOf(store, other)).toMatchObject([{ state: 'sent', resends: 1, uncertain: false }])
})

test('an answer that is recorded twice counts once', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 2 })
  await using worker = await openScriptedWorker(store.pool, id)
  await worker.send(await worker.claim(), LOST)
  const claim = await worker.claim()
  await worker.send(claim, UNAVAILABLE)
  await worker.send(claim, UNAVAILABLE)
  expect(await batchesOf(store, id)).toMatchObject([{ state: 'ready', resends: 1, uncertain: true }])
})

test('rows set aside before a call that was accepted late are rejected', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 3 })
  await answerLate(store, id, ACCEPTED, { before: [naming('p3@example.com')] })
  expect(await loadSummary(store.pool, id)).toMatchObject({ sent: 2, rejected: 1, uncertain: 0 })
  expect(await rowsUnaccounted(store.pool)).toEqual([])
})

test.for([
  [ACCEPTED, 'completed'],
  [UNAVAILABLE, 'queued'],
] as const)(
  'an import that waits for a decision goes on without one after a late answer',
  async ([answer, status]) => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 2, onUncertain: 'hold' })
    await using worker = await openScriptedWorker(store.pool, id)
    const claim = await worker.claim()
    await ageImport(store.pool, id, '1 hour')
    await reclaimImport(store.pool, id)
    expect(await worker.end()).toEqual({ what: 'ended', status: 'undecided' })
    await worker.send(claim, answer)
    expect((await loadSummary(store.pool, id)).status).toBe(status)
  },
)

test.for([
  ['resend', 'its permit is returned', (worker, claim) => worker.returnPermit(claim)],
  ['hold', 'its permit is returned', (worker, claim) => worker.returnPermit(claim)],
  ['hold', 'it could not be sent', unsent],
] as const satisfies [string, string, (worker: ScriptedWorker, claim: Claim) => Promise<unknown>][])(
  'a batch whose claim expired before its call was made is ready as if it had not been claimed: %s, %s',
  async ([onUncertain, , release]) => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 2, onUncertain })
    await using worker = await openScriptedWorker(store.pool, id)
    const claim = await worker.claim()
    await ageImport(store.pool, id, '1 hour')
    await reclaimImport(store.pool, id)
    for (let time = 1; time <= 2; time++) await release(worker, claim)
    expect(await batchesOf(store, id)).toMatchObject([
      { state: 'ready', resends: 0, uncertain: false, error_code: null },
    ])
    expect(await loadSummary(store.pool, id)).toMatchObject({ uncertain: 0, pending: 2, requests: 0 })
    expect((await store.pool.query('select from ferry.platform_calls')).rowCount).toBe(0)
  },
)

test('a call that was not made stays in the log once its batch was claimed again', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 2 })
  await using worker = await openScriptedWorker(store.pool, id)
  const first = await worker.claim()
  await ageImport(store.pool, id, '1 hour')
  await worker.send(await worker.claim(), ACCEPTED)
  await worker.returnPermit(first)
  expect(await batchesOf(store, id)).toMatchObject([{ state: 'sent', resends: 1 }])
  expect(await loadSummary(store.pool, id)).toMatchObject({ sent: 2, requests: 2 })
  expect((await store.pool.query('select from ferry.platform_calls')).rowCount).toBe(2)
})

async function unsent({ context }: ScriptedWorker, { claim, batchId, permit }: Claim): Promise<void> {
  const rows = await loadRows(context.pool, batchId)
  const answer = {
    ok: false,
    refusal: notSent({ kind: 'network', words: 'no connection' }),
    requests: 0,
  } as const
  await persistOutcome(context, {
    claim,
    pageId: 1n,
    rows,
    call: { answer, permit, end: null } as ImportCall,
  })
}

test('another import of the page leaves out whom an older call has reached, as its late answer says', async () => {
  await using store = await openTestStore()
  const older = await stageRows(store.pool, { rows: 2 })
  const id = await stageRows(store.pool, { rows: 3 })
  await answerLate(store, older, ACCEPTED, {
    meanwhile: async () => {
      await cancelImport(store.pool, older, ADA)
      await start(store, id)
      expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 0 })
    },
  })
  await start(store, id)
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 2, pending: 1 })
  await sendAll(store.pool, id)
  expect(await loadSummary(store.pool, id)).toMatchObject({ status: 'completed', sent: 1 })
})
