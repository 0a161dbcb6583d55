import fc from 'fast-check'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cancelImport, confirmImport } from '#src/imports/control/decide.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { missingOf } from '#src/model/import.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import {
  ACCEPTED,
  BAD_ROWS,
  LOST,
  naming,
  openScriptedWorker,
  type ScriptedAnswer,
  type ScriptedWorker,
  sendBatches,
  TOO_LARGE,
  UNAVAILABLE,
} from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { OPTIONS } from '../options.ts'
import { openStagingHarness, type StagingHarness } from '../staging/staging-harness.ts'

let harness: StagingHarness
beforeAll(async () => {
  harness = await openStagingHarness()
})
afterAll(() => harness[Symbol.asyncDispose]())

/** What may become of a row of a file. */
const ROWS = {
  recipient: (line: number, file: number) => `p${line}@f${file}.example.com`,
  rejected: (line: number) => `nobody ${line}`,
  duplicate: (_line: number, file: number) => `twice@f${file}.example.com`,
  suppressed: (line: number) => `s${line}@example.com`,
  'already imported': (line: number) => `a${line}@example.com`,
} as const
type Row = keyof typeof ROWS

/** What a worker may do next. */
const STEPS = {
  accepted: sendNext(ACCEPTED),
  lost: sendNext(LOST),
  unavailable: sendNext(UNAVAILABLE),
  'too large': sendNext(TOO_LARGE),
  'bad rows': sendNext(BAD_ROWS),
  'bad recipients': async (worker, file) =>
    sendNext(naming(ROWS.recipient(3, file), ROWS.recipient(5, file)))(worker),
  'in flight': async worker => void (await worker.tryClaim()),
  released: async worker => {
    const claim = await worker.tryClaim()
    if (claim) await worker.release(claim)
  },
  'time passes': ({ context: { pool, importId } }) => ageImport(pool, importId, '1 hour'),
} as const satisfies Record<string, (worker: ScriptedWorker, file: number) => Promise<void>>

function sendNext(answer: ScriptedAnswer) {
  return async (worker: ScriptedWorker): Promise<void> => {
    const claim = await worker.tryClaim()
    if (claim) await worker.send(claim, answer)
  }
}

const MAX_ROWS = 20
const LINES = Array.from({ length: MAX_ROWS }, (_, index) => index + 2)

test('whatever the mix of rows and batches, the counts add up, and those of sums are those of rows', async () => {
  const { pool } = harness.store
  const suppress = await harness.file(LINES.map(ROWS.suppressed).join('\n'))
  await stageRows(pool, {
    pageId: OPTIONS.pageId,
    rows: MAX_ROWS,
    recipient: ROWS['already imported'],
    status: 'completed',
  })
  let files = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...(Object.keys(ROWS) as Row[])), { minLength: 1, maxLength: MAX_ROWS }),
      fc.array(fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[])), { maxLength: 8 }),
      fc.constantFrom('resend' as const, 'hold' as const),
      async (rows, steps, onUncertain) => {
        const file = ++files
        const content = ['email', ...rows.map((row, index) => ROWS[row](index + 2, file))].join('\n')
        const { import: id } = await harness.stage(content, { suppress, batchRows: 3, onUncertain })
        const status = await confirmImport(pool, id!, ADA)
        await expectSums(id!)
        if (status === 'completed') return
        await using worker = await openScriptedWorker(pool, id!)
        for (const step of steps) await STEPS[step](worker, file)
        await expectSums(id!)
        await cancelImport(pool, id!, ADA)
        await ageImport(pool, id!, '1 hour')
        await expectSums(id!)
      },
    ),
    { numRuns: 30 },
  )

  async function expectSums(id: bigint): Promise<void> {
    const summary = await loadSummary(pool, id)
    expect(missingOf(summary)).toBe(0)
    expect(Math.min(summary.pending, summary.uncertain, summary.sent)).toBeGreaterThanOrEqual(0)
    const { differences, summary: recounted } = await reportImport(pool, id)
    expect(differences).toEqual([])
    expect({ ...recounted, durationMs: 0 }).toEqual({ ...summary, durationMs: 0 })
  }
})

/** An import of six rows, of which the first three are sent. */
async function halfSent(pool: Pool): Promise<bigint> {
  const id = await stageRows(pool, { rows: 6, batchRows: 3 })
  await sendBatches(pool, id, [ACCEPTED])
  return id
}

/* What Ferry never does, so no function of its does it: a row is lost, is in two tables, or is in no batch. */

test('a row that got lost, or is there twice, is reported', async () => {
  await using store = await openTestStore()
  const id = await halfSent(store.pool)
  await store.pool.query('delete from ferry.import_recipients where line = 3')
  expect((await reportImport(store.pool, id)).differences).toEqual([
    '6 rows were read, and 5 are accounted for',
    'sent: the rows give 2, the kept count is 3',
  ])
  await store.pool.query(
    `insert into ferry.import_rejects (import_id, line, origin, reason, message)
     select import_id, line, 'file', 'r', 'm' from ferry.import_recipients where line in (4, 5)`,
  )
  expect((await reportImport(store.pool, id)).differences[0]).toBe(
    '6 rows were read, and 7 are accounted for',
  )
})

test('a row that no batch covers is missing, though it is in the table', async () => {
  await using store = await openTestStore()
  const id = await halfSent(store.pool)
  await store.pool.query('update ferry.imports set batched_to = 5')
  expect((await reportImport(store.pool, id)).differences).toEqual([
    '6 rows were read, and 5 are accounted for',
    'pending: the rows give 2, the kept count is 3',
  ])
})
