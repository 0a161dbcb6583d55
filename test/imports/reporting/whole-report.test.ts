import { expect, test } from 'vitest'
import { cancelImport } from '#src/imports/control/decide.ts'
import { loadProgress } from '#src/imports/reporting/progress.ts'
import { listRecipients } from '#src/imports/reporting/recipients.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { loadSummaryRow } from '#src/imports/reporting/summary.ts'
import { nextInWords, waitsFor } from '#src/imports/reporting/waits-for.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import {
  ACCEPTED,
  LOST,
  naming,
  openScriptedWorker,
  type ScriptedWorker,
  sendAll,
  UNAVAILABLE,
} from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

/* All that is reported of an import with a batch, and a row, in each state. */

const REFUSED = 'The platform answered InvalidParameter (HTTP 400): <recipient> are not valid.'

/** Of twelve rows in batches of two: sent, sent but for one, uncertain, in flight for the second time, not cut yet. */
async function halfWay({ pool }: TestStore): Promise<{ id: bigint; worker: ScriptedWorker }> {
  const id = await stageRows(pool, { rows: 12, batchRows: 2, onUncertain: 'hold' })
  await pool.query(
    `insert into ferry.import_rejects (import_id, line, origin, reason, message)
     select $1, 13 + n, 'file', case n when 1 then 'a reason' else 'no recipient' end, 'It is wrong.' from generate_series(1, 3) n`,
    [id],
  )
  await pool.query(
    `insert into ferry.import_left_out (import_id, line, kind, reason, recipient, kept_line, earlier_import)
     values ($1, 17, 'duplicate', 'same settings', 'p2@example.com', 2, null),
       ($1, 18, 'already imported', 'already imported', 'a@example.com', null, 99),
       ($1, 19, 'suppressed', 'suppression list', null, null, null)`,
    [id],
  )
  await pool.query(
    `update ferry.imports set read = 18, rejected = 3, duplicate = 1, already_imported = 1, suppressed = 1 where id = $1`,
    [id],
  )
  const worker = await openScriptedWorker(pool, id)
  for (const answer of [ACCEPTED, naming('p5@example.com'), ACCEPTED, LOST, UNAVAILABLE]) {
    await worker.send(await worker.claim(), answer)
  }
  await ageImport(pool, id, '1 hour')
  await worker.claim()
  return { id, worker }
}

/** What is of this run, by what it is. */
function steady(value: unknown): unknown {
  const isTime = (text: unknown) => typeof text === 'string' && /^\d{4}-\d\d-\d\dT/.test(text)
  const text = JSON.stringify(value, (key, one) => {
    if (key === 'durationMs') return 'some'
    return isTime(one) ? 'a time' : typeof one === 'bigint' ? `${one}` : one
  })
  return JSON.parse(text)
}

test('every row is told with its batch, its call and its reason', async () => {
  await using store = await openTestStore()
  const { id, worker } = await halfWay(store)
  await using _ = worker
  const rows = (await Array.fromAsync(listRecipients(store.pool, id))).flat()
  const nothing = {
    recipient: null,
    reason: null,
    message: null,
    batch: null,
    resends: null,
    sentAt: null,
    call: null,
    requestId: null,
  }
  const person = (line: number) => ({ ...nothing, line: `${line}`, recipient: `p${line}@example.com` })
  const sent = { state: 'sent', resends: 0, sentAt: 'a time', requestId: 'req-1' }
  const uncertain = { state: 'uncertain', batch: '3', resends: 0, call: '4' }
  const inFlight = { state: 'in flight', batch: '4', resends: 0, call: '6', requestId: 'req-2' }
  const rejected = (line: number, reason: string) => ({
    ...nothing,
    line: `${line}`,
    state: 'rejected',
    reason,
    message: 'It is wrong.',
  })
  expect(steady(rows)).toEqual([
    { ...person(2), ...sent, batch: '1', call: '1' },
    { ...person(3), ...sent, batch: '1', call: '1' },
    { ...person(4), ...sent, batch: '2', call: '3' },
    {
      ...nothing,
      line: '5',
      state: 'rejected',
      reason: 'refused by the platform',
      message: REFUSED,
      batch: '2',
      requestId: 'req-2',
    },
    { ...person(6), ...uncertain },
    { ...person(7), ...uncertain },
    { ...person(8), ...inFlight },
    { ...person(9), ...inFlight },
    ...[10, 11, 12, 13].map(line => ({ ...person(line), state: 'pending' })),
    rejected(14, 'a reason'),
    rejected(15, 'no recipient'),
    rejected(16, 'no recipient'),
    {
      ...nothing,
      line: '17',
      recipient: 'p2@example.com',
      state: 'duplicate',
      reason: 'same settings: line 2',
    },
    {
      ...nothing,
      line: '18',
      recipient: 'a@example.com',
      state: 'already imported',
      reason: 'already imported: import 99',
    },
    { ...nothing, line: '19', state: 'suppressed', reason: 'suppression list' },
  ])
})

test('a report is whole: sums, batches, and reasons with the most frequent first', async () => {
  await using store = await openTestStore()
  const { id, worker } = await halfWay(store)
  await using _ = worker
  const called = { claimedAt: 'a time', calledAt: 'a time' }
  expect(steady(await reportImport(store.pool, id))).toEqual({
    summary: {
      import: `${id}`,
      account: 'default',
      page: '5750613685214',
      status: 'running',
      read: 18,
      sent: 3,
      rejected: 4,
      duplicate: 1,
      suppressed: 1,
      alreadyImported: 1,
      uncertain: 2,
      pending: 6,
      batches: 6,
      requests: 6,
      durationMs: 'some',
    },
    file: 'test.csv',
    method: 'email',
    createdAt: 'a time',
    finishedAt: null,
    purgedAt: null,
    next: '',
    batches: [
      {
        id: '1',
        fromLine: '2',
        toLine: '3',
        rows: 2,
        state: 'sent',
        resends: 0,
        uncertain: false,
        calls: 1,
        ...called,
        sentAt: 'a time',
        httpStatus: 200,
        errorCode: null,
        requestIds: ['req-1'],
        message: null,
      },
      {
        id: '2',
        fromLine: '4',
        toLine: '5',
        rows: 1,
        state: 'sent',
        resends: 0,
        uncertain: false,
        calls: 2,
        ...called,
        sentAt: 'a time',
        httpStatus: 200,
        errorCode: null,
        requestIds: ['req-2', 'req-1'],
        message: null,
      },
      {
        id: '3',
        fromLine: '6',
        toLine: '7',
        rows: 2,
        state: 'uncertain',
        resends: 0,
        uncertain: true,
        calls: 1,
        ...called,
        sentAt: null,
        httpStatus: null,
        errorCode: 'NoAnswer',
        requestIds: [],
        message: 'The call got no complete answer: reset.',
      },
      {
        id: '4',
        fromLine: '8',
        toLine: '9',
        rows: 2,
        state: 'in flight',
        resends: 0,
        uncertain: false,
        calls: 2,
        ...called,
        sentAt: null,
        httpStatus: 503,
        errorCode: 'ServiceUnavailable',
        requestIds: ['req-2'],
        message: 'The platform answered ServiceUnavailable (HTTP 503): No.',
      },
    ],
    reasons: [
      { kind: 'rejected', origin: 'file', reason: 'no recipient', rows: 2 },
      { kind: 'already imported', origin: null, reason: 'already imported', rows: 1 },
      { kind: 'duplicate', origin: null, reason: 'same settings', rows: 1 },
      { kind: 'rejected', origin: 'file', reason: 'a reason', rows: 1 },
      { kind: 'rejected', origin: 'platform', reason: 'refused by the platform', rows: 1 },
      { kind: 'suppressed', origin: null, reason: 'suppression list', rows: 1 },
    ],
    differences: [],
    pause: null,
  })
})

const WINDOWS = [{ maxCalls: 20, windowMs: 60_000 }]
const LIMIT = { limitKey: 'account:default', windows: WINDOWS }

test('an import of which nothing was sent lately has no rate; a cancelled one has no batch left', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const id = await stageRows(pool, { rows: 4, batchRows: 2 })
  await using worker = await openScriptedWorker(pool, id)
  await worker.send(await worker.claim(), ACCEPTED)
  await ageImport(pool, id, '10 minutes')
  const progress = { batchesLeft: 1, rowsPerMinute: null, etaMs: null, pause: null, isPurged: false }
  expect(await loadProgress(pool, id, LIMIT)).toMatchObject(progress)
  await cancelImport(pool, id, ADA)
  const ended = { ...progress, batchesLeft: 0, whyWaiting: null }
  expect(await loadProgress(pool, id, LIMIT)).toMatchObject(ended)
})

const CONFIRM =
  'Its page of the console (/imports/1) confirms it; without a console, import the file again: this one expires within a ' +
  'day. `ferry imports cancel 1` ends it.'
const DECIDE =
  'No definite answer came for 4 rows: the platform may have them. Check the platform, then decide.'
const RESOLVE =
  '`ferry imports resolve 1 --as sent` marks the uncertain rows as sent, `ferry imports resolve 1 --as resend` sends them again'

test.each<[ImportStatus | 'undecided, then cancelled', string | null, string]>([
  ['staging', 'Its file has been checked. Nothing is sent until you confirm it.', CONFIRM],
  ['queued', null, ''],
  ['running', null, ''],
  [
    'paused',
    'A person paused it.',
    '`ferry imports resume 1` continues it, `ferry imports cancel 1` ends it.',
  ],
  ['undecided', DECIDE, `${RESOLVE}, \`ferry imports cancel 1\` ends it.`],
  ['completed', null, ''],
  ['cancelled', null, ''],
  ['undecided, then cancelled', `It is cancelled. ${DECIDE}`, `${RESOLVE}.`],
])('what an import waits for, and what to do, is said whole: %s', async (status, why, next) => {
  await using store = await openTestStore()
  const { pool } = store
  const isBoth = status === 'undecided, then cancelled'
  const id = await stageRows(pool, { rows: 4, status: isBoth ? 'undecided' : status })
  if (isBoth) await cancelImport(pool, id, ADA)
  const row = (await loadSummaryRow(pool, id))!
  const waits = waitsFor(row)
  expect([waits?.why ?? null, nextInWords(row)]).toEqual([why, next])
  const dayAfter = new Date(row.createdAt.getTime() + 24 * 3_600_000)
  const until = waits?.until ?? null
  if (status === 'staging') expect(until?.getTime()).toBeLessThanOrEqual(dayAfter.getTime())
  else expect(until).toBeNull()
})

test('one row whose outcome is unknown is one row', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 1, onUncertain: 'hold' })
  await sendAll(store.pool, id, LOST)
  expect(waitsFor((await loadSummaryRow(store.pool, id))!)?.why).toBe(
    'No definite answer came for one row: the platform may have them. Check the platform, then decide.',
  )
})
