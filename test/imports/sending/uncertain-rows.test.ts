import { expect, test } from 'vitest'
import { pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { loadSummary, loadSummaryRow } from '#src/imports/reporting/summary.ts'
import { stepsOf } from '#src/imports/reporting/waits-for.ts'
import type { FaultInput } from '#src/sandbox/faults.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { naming, openScriptedWorker, sendBatches } from '#test/support/scripted-worker.ts'
import { type ImportHarness, openImportHarness } from '../import-harness.ts'

/** Rows whose outcome is unknown, amid all else that may happen to them. */

const APPLIED_AND_FAILED = { kind: 'error', code: 'InternalError', applied: true } as const
const NAMING = {
  kind: 'error',
  code: 'InvalidParameter',
  message: 'recipient p3@example.com is on a block list',
} as const
const UNAUTHORIZED = { kind: 'error', code: 'Unauthorized' } as const

/** The next calls go wrong like this, one after the other. */
function faults(harness: ImportHarness, ...faults: readonly FaultInput[]): void {
  let nth = 0
  harness.sandbox.state.onCall(() => faults[nth++])
}

function localeOf(harness: ImportHarness, recipient: string): string | undefined {
  return harness.sandbox.state.subscribers.get(SANDBOX_PAGE_ID, 'email', recipient)?.locale
}

/** An update of one row that has another locale. */
function stageGerman(harness: ImportHarness, onUncertain: 'resend' | 'hold' = 'resend'): Promise<bigint> {
  return harness.stage({ rows: 1, update: true, onUncertain, settings: () => ({ locale: 'de-DE' }) })
}

test('a row set aside from a call is not taken for sent with it', async () => {
  await using harness = await openImportHarness()
  const { pool } = harness.ferry
  const id = await harness.stage({ rows: 3, onUncertain: 'hold' })
  faults(harness, NAMING, APPLIED_AND_FAILED, UNAUTHORIZED)
  expect(await harness.work(id)).toBe('paused')
  expect(await loadSummary(pool, id)).toMatchObject({ uncertain: 2, pending: 1 })

  expect(await resolveUncertain(pool, id, 'sent', ADA)).toMatchObject({ rows: 2 })
  await resumeImport(pool, id, ADA)
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 3 })
})

test('a claim that is lost is reclaimed even if what was to be decided about it cannot be', async () => {
  await using harness = await openImportHarness()
  const { pool } = harness.ferry
  const id = await harness.stage({ rows: 3, onUncertain: 'hold' })
  const [batch] = await sendBatches(pool, id, [naming('p3@example.com')])
  {
    await using worker = await openScriptedWorker(pool, id)
    expect((await worker.claim()).batchId).toBe(batch)
  }
  await pauseImport(pool, id, ADA)
  await ageImport(pool, id, '1 hour')
  const decision = resolveUncertain(pool, id, 'sent', ADA, { batchId: batch! })
  await expect(decision).rejects.toThrow(`its batch ${batch} is not uncertain`)
  const states = (await harness.batches(id)).map(({ from_line, state, uncertain }) => [
    from_line,
    state,
    uncertain,
  ])
  expect(states.sort()).toEqual([
    ['2', 'uncertain', true],
    ['3', 'ready', false],
    ['4', 'uncertain', true],
  ])
})

test('the first rows are not called sent when it is unknown whether they arrived', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 3, firstRows: 2, onUncertain: 'hold' })
  faults(harness, APPLIED_AND_FAILED)
  expect(await harness.work(id)).toBe('paused')
  expect(await harness.importRow(id)).toMatchObject({
    pause_code: 'FirstRowsSent',
    pause_message: 'The first 2 rows have been tried; the outcome of 2 of them is unknown.',
    pause_what_to_do: expect.stringContaining(`ferry imports resolve ${id} --as sent`),
  })
})

test('of first rows that the platform rejects, it is said how many were sent, and the rejects are offered', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 6, firstRows: 4 })
  faults(harness, NAMING)
  expect(await harness.work(id)).toBe('paused')
  expect(await harness.importRow(id)).toMatchObject({
    pause_code: 'FirstRowsSent',
    pause_message: 'Of the first 4 rows, 3 were sent and 1 was rejected by the platform.',
    pause_what_to_do: expect.stringContaining('the rejects'),
  })
  const row = await loadSummaryRow(harness.ferry.pool, id)
  expect(stepsOf(row!).map(({ command }) => command)).toContain(
    `ferry imports rejects ${id} --out rejects-${id}.csv`,
  )
})

test('a row that may have arrived before it was rejected is called resent by the import that sends it', async () => {
  await using harness = await openImportHarness()
  const first = await harness.stage({ rows: 2 })
  faults(harness, APPLIED_AND_FAILED, NAMING)
  expect(await harness.work(first)).toBe('completed')
  expect(await loadSummary(harness.ferry.pool, first)).toMatchObject({ sent: 1, rejected: 1 })

  const second = await harness.stage({ rows: 2 })
  expect(await harness.work(second)).toBe('completed')
  expect(harness.delivered().get('p3@example.com')).toBe(2)
  expect(await harness.batches(second)).toMatchObject([{ rows: 1, state: 'sent', resends: 1 }])
})

test('an update is compared with what was sent last, by whichever import', async () => {
  await using harness = await openImportHarness()
  const { pool } = harness.ferry
  const [oldest, other, newest] = [
    await harness.stage({ rows: 2, firstRows: 1 }),
    await stageGerman(harness),
    await harness.stage({
      rows: 2,
      firstRows: 1,
      update: true,
      recipient: line => (line === 2 ? 'z@example.com' : 'p2@example.com'),
    }),
  ]
  expect(await harness.work(oldest)).toBe('paused')
  expect(await harness.work(other)).toBe('completed')
  expect(await harness.work(newest)).toBe('paused')
  await resumeImport(pool, oldest, ADA)
  expect(await harness.work(oldest)).toBe('completed')
  await resumeImport(pool, newest, ADA)
  expect(await harness.work(newest)).toBe('completed')
  expect(localeOf(harness, 'p2@example.com')).toBe('en-US')
})

test('an update waits for rows that may have been sent last', async () => {
  await using harness = await openImportHarness()
  const { pool } = harness.ferry
  expect(await harness.work(await harness.stage({ rows: 1 }))).toBe('completed')
  const unsure = await stageGerman(harness, 'hold')
  faults(harness, APPLIED_AND_FAILED)
  expect(await harness.work(unsure)).toBe('undecided')

  const last = await harness.stage({ rows: 1, update: true, onUncertain: 'hold' })
  expect(await harness.work(last)).toBe('paused')
  expect(await harness.importRow(last)).toMatchObject({ pause_code: 'UncertainElsewhere' })
  await resolveUncertain(pool, unsure, 'sent', ADA)
  await resumeImport(pool, last, ADA)
  expect(await harness.work(last)).toBe('completed')
  expect(localeOf(harness, 'p2@example.com')).toBe('en-US')
})

test('an update is sent after what may have been sent last, and called resent', async () => {
  await using harness = await openImportHarness()
  expect(await harness.work(await harness.stage({ rows: 1 }))).toBe('completed')
  const unsure = await stageGerman(harness)
  faults(harness, APPLIED_AND_FAILED, UNAUTHORIZED)
  expect(await harness.work(unsure)).toBe('paused')

  const last = await harness.stage({ rows: 1, update: true })
  expect(await harness.work(last)).toBe('completed')
  expect(localeOf(harness, 'p2@example.com')).toBe('en-US')
  expect(await harness.batches(last)).toMatchObject([{ state: 'sent', resends: 1 }])
})

test.for(['ServiceUnavailable', 'UndonedOrderExist', 'InvalidParameter'])(
  'a refusal with %s that did half of the work is sent again even with hold; that there were two calls stays known',
  async code => {
    await using harness = await openImportHarness()
    const id = await harness.stage({ rows: 4, onUncertain: 'hold' })
    faults(harness, { kind: 'error', code, applied: 'half' })
    expect(await harness.work(id)).toBe('completed')
    expect(harness.timesDelivered()).toEqual({ once: 2, twice: 2 })
    const { batches, differences } = await reportImport(harness.ferry.pool, id)
    expect(differences).toEqual([])
    expect(batches.map(({ state, resends, calls }) => ({ state, resends, calls }))).toEqual(
      Array(code === 'InvalidParameter' ? 2 : 1).fill({ state: 'sent', resends: 0, calls: 2 }),
    )
  },
)
