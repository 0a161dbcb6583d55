import { expect, test } from 'vitest'
import { changedBy } from '#test/support/changed-rows.ts'
import {
  ACCEPTED,
  BAD_ROWS,
  LOST,
  naming,
  openScriptedWorker,
  refused,
  type ScriptedAnswer,
  TOO_LARGE,
  UNAUTHORIZED,
  UNAVAILABLE,
} from '#test/support/scripted-worker.ts'
import { type StagedImport, stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { cutBatch, leaveUncertain, start } from './start-import.ts'

/* All that a claim, an answer and the start of an import change in the database. */

const batch = (...changes: string[]) =>
  `import_batches 1: claim a key → null, state "in flight" → ${changes.join(', ')}, claim_ends_at a time → null`
const refusedWith = (code: string, httpStatus: number, said = 'No.') =>
  [
    `message null → "The platform answered ${code} (HTTP ${httpStatus}): ${said}"`,
    `error_code null → "${code}", request_id null → "req-2", http_status null → ${httpStatus}`,
  ] as const
const call = (code: string, httpStatus: number) =>
  `platform_calls 1: finished null → a time, error_code null → "${code}", request_id null → "req-2", http_status null → ${httpStatus}`
const half = (id: number, from: number) =>
  `+ import_batches ${id}: rows 2, state "ready", reasons {}, resends 0, to_line ${from + 1}, from_line ${from}, import_id 1, parent_id 1, set_aside [], uncertain false`
const paused = (code: string) =>
  `+ events 1: at a time, data {"code":"${code}","page":"5750613685214","import":"1","requestId":"req-2"}, kind "import.paused", state "raised", account "default", is_open true, subject "1", message_id a key`
const NAMED = 'The platform answered InvalidParameter (HTTP 400): <recipient> are not valid.'
const REASONS = `{"3":{"code":"InvalidParameter","toCall":"1","message":"${NAMED}","requestId":"req-2"}}`
const NO_ANSWER = 'message null → "The call got no complete answer: reset."'

const ANSWERS: Readonly<Record<string, [StagedImport, ScriptedAnswer, string[]]>> = {
  accepted: [
    {},
    ACCEPTED,
    [
      '+ import_locales 1 en-US: sent 4',
      batch('"sent", sent_at null → a time, request_id null → "req-1", http_status null → 200'),
      'imports 1: sent 0 → 4, accepted 0 → 1',
      'platform_calls 1: finished null → a time, request_id null → "req-1", http_status null → 200',
    ],
  ],
  'not answered, to be sent again': [
    {},
    LOST,
    [
      batch('"ready"', NO_ANSWER, 'resends 0 → 1, uncertain false → true, error_code null → "NoAnswer"'),
      'imports 1: failures 0 → 1, retry_at null → a time, uncertain 0 → 4',
      'platform_calls 1: error_code null → "NoAnswer"',
    ],
  ],
  'not answered, to be held': [
    { onUncertain: 'hold' },
    LOST,
    [
      batch('"uncertain"', NO_ANSWER, 'uncertain false → true, error_code null → "NoAnswer"'),
      'imports 1: failures 0 → 1, retry_at null → a time, uncertain 0 → 4',
      'platform_calls 1: error_code null → "NoAnswer"',
    ],
  ],
  'refused for now': [
    {},
    UNAVAILABLE,
    [
      batch('"ready"', ...refusedWith('ServiceUnavailable', 503)),
      'imports 1: failures 0 → 1, retry_at null → a time',
      call('ServiceUnavailable', 503),
    ],
  ],
  'refused by the limit': [
    {},
    refused(429, 'RequestTooFrequently'),
    [
      batch('"ready"', ...refusedWith('RequestTooFrequently', 429)),
      call('RequestTooFrequently', 429),
      'platform_limits account:default import-subscribers: strikes 0 → 1, blocked_by null → 1, blocked_until null → a time',
    ],
  ],
  'refused for the key': [
    {},
    UNAUTHORIZED,
    [
      paused('Unauthorized'),
      batch('"ready"', ...refusedWith('Unauthorized', 401)),
      'imports 1: status "running" → "paused", pause_code null → "Unauthorized", rests_since null → a time, pause_message null → "The platform answered Unauthorized (HTTP 401).", pause_request_id null → "req-2", pause_what_to_do null → "Check the app_key of this account; create a new one if it has expired."',
      call('Unauthorized', 401),
    ],
  ],
  'refused for the page': [
    {},
    refused(400, 'ResourceNotFound', { message: 'page_id is unknown' }),
    [
      paused('ResourceNotFound'),
      batch('"ready"', ...refusedWith('ResourceNotFound', 400, 'page_id is unknown.')),
      'imports 1: status "running" → "paused", pause_code null → "ResourceNotFound", rests_since null → a time, pause_message null → "The platform answered ResourceNotFound (HTTP 400).", pause_request_id null → "req-2", pause_what_to_do null → "Check --page. No row was rejected because of this. If the page is wrong, cancel the import and import the file again with the right page. If the page was missing, resume once it is there."',
      call('ResourceNotFound', 400),
    ],
  ],
  'too large': [
    {},
    TOO_LARGE,
    [
      half(2, 2),
      half(3, 4),
      batch('"split"', ...refusedWith('EntityTooLarge', 413)),
      'imports 1: batches 1 → 2, max_rows null → 2, unaccepted 0 → 1',
      call('EntityTooLarge', 413),
    ],
  ],
  'refused for rows': [
    {},
    BAD_ROWS,
    [
      half(2, 2),
      half(3, 4),
      batch('"split"', ...refusedWith('InvalidParameter', 400)),
      'imports 1: batches 1 → 2, unaccepted 0 → 1',
      call('InvalidParameter', 400),
    ],
  ],
  'refused for its only row': [
    { rows: 1 },
    BAD_ROWS,
    [
      batch(
        '"suspect"',
        'message null → "The platform answered InvalidParameter (HTTP 400): No."',
        'reasons {} → {"2":{"code":"InvalidParameter","toCall":"1","message":"The platform answered InvalidParameter (HTTP 400): No.","requestId":"req-2"}}',
        'error_code null → "InvalidParameter", request_id null → "req-2", http_status null → 400',
      ),
      'imports 1: unaccepted 0 → 1',
      call('InvalidParameter', 400),
    ],
  ],
  'refused for a row that it names': [
    {},
    naming('p3@example.com'),
    [
      batch(
        '"ready"',
        `message null → "${NAMED}"`,
        `reasons {} → ${REASONS}`,
        'set_aside [] → [3], error_code null → "InvalidParameter", request_id null → "req-2", http_status null → 400',
      ),
      'imports 1: unaccepted 0 → 1',
      call('InvalidParameter', 400),
    ],
  ],
}

test.each(Object.entries(ANSWERS))(
  'all that changes with a call that is %s',
  async (_, [staged, answer, changed]) => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 4, batchRows: 4, ...staged })
    await using worker = await openScriptedWorker(store.pool, id)
    const claim = await worker.claim()
    expect(await changedBy(store.pool, () => worker.send(claim, answer))).toEqual(['nothing', ...changed])
  },
)

test('all that changes when the rest of a batch is accepted, and with the end of the import', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4 })
  await using worker = await openScriptedWorker(store.pool, id)
  await worker.send(await worker.claim(), naming('p3@example.com'))
  const claim = await worker.claim()
  expect(await changedBy(store.pool, () => worker.send(claim, ACCEPTED))).toEqual([
    'nothing',
    '+ import_locales 1 en-US: sent 3',
    `+ import_rejects 1 3: raw "p3@example.com", origin "platform", reason "refused by the platform", message "${NAMED}", batch_id 1, error_code "InvalidParameter", request_id "req-2", recipient_hash a key`,
    '- import_recipients 1 3',
    `import_batches 1: rows 4 → 3, claim a key → null, state "in flight" → "sent", message "${NAMED}" → null, reasons ${REASONS} → {}, sent_at null → a time, set_aside [3] → [], error_code "InvalidParameter" → null, request_id "req-2" → "req-1", http_status 400 → 200, claim_ends_at a time → null`,
    'imports 1: sent 0 → 3, batched 4 → 3, accepted 0 → 1, rejected 0 → 1, recipients 4 → 3, unaccepted 1 → 0, rejected_by_platform 0 → 1',
    'platform_calls 2: finished null → a time, request_id null → "req-1", http_status null → 200',
  ])
  expect(await changedBy(store.pool, () => worker.end())).toEqual([
    '{"what":"ended","status":"completed"}',
    '+ events 1: at a time, data {"page":"5750613685214","import":"1"}, kind "import.completed", state "raised", account "default", is_open false, subject "1", message_id a key',
    'imports 1: status "running" → "completed", finished_at null → a time',
  ])
})

test('all that a claim changes, the first one and one of a batch that is ready, is undone with it', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4, batchRows: 3 })
  await using worker = await openScriptedWorker(store.pool, id)
  const claimed = () => changedBy(store.pool, async () => (await worker.tryClaim()) && undefined)
  expect(await claimed()).toEqual([
    'nothing',
    '+ import_batches 1: rows 3, claim a key, state "in flight", call_id 1, reasons {}, resends 0, to_line 4, from_line 2, import_id 1, set_aside [], uncertain false, claimed_at a time, claim_ends_at a time',
    '+ platform_calls 1: account "default", started a time, batch_id 1, limit_key "account:default", operation "import-subscribers", counted_by a time',
    '+ platform_limits account:default import-subscribers: id 1, strikes 0',
    'imports 1: batched 0 → 3, batches 0 → 1, requests 0 → 1, served_at null → a time, batched_to 0 → 4',
  ])
  const second = await worker.claim()
  const released = () => changedBy(store.pool, () => worker.release(second))
  expect(await released()).toEqual([
    'nothing',
    '- platform_calls 2',
    'import_batches 2: claim a key → null, state "in flight" → "ready", call_id 2 → null, claimed_at a time → null, claim_ends_at a time → null',
    'imports 1: requests 2 → 1',
  ])
  expect(await released()).toEqual(['nothing'])
  expect(await claimed()).toEqual([
    'nothing',
    '+ platform_calls 3: account "default", started a time, batch_id 2, limit_key "account:default", operation "import-subscribers", counted_by a time',
    'import_batches 2: claim null → a key, state "ready" → "in flight", call_id null → 3, claimed_at null → a time, claim_ends_at null → a time',
    'imports 1: requests 1 → 2, served_at a time → a time',
  ])
  expect(await claimed()).toEqual(['null'])
})

test('all that the start of an import changes: who was sent is left out, and who may have been is counted', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const first = await stageRows(pool, { rows: 4, batchRows: 2 })
  {
    await using worker = await openScriptedWorker(pool, first)
    await worker.send(await worker.claim(), ACCEPTED)
  }
  await leaveUncertain(store, first)
  const id = await stageRows(pool, { rows: 6 })
  const leftOut = (line: number, importId = id) =>
    `+ import_left_out ${importId} ${line}: kind "already imported", reason "already imported", recipient "p${line}@example.com", earlier_import 1, recipient_hash a key`
  expect(await changedBy(pool, () => start(store, id))).toEqual([
    '{"status":"running","accepted":0,"failures":0}',
    leftOut(2),
    leftOut(3),
    '- import_recipients 2 2',
    '- import_recipients 2 3',
    'import_recipients 2 4: maybe_sent null → 1',
    'import_recipients 2 5: maybe_sent null → 1',
    'imports 2: status "queued" → "running", recipients 6 → 4, started_at null → a time, already_imported 0 → 2, excluded_to_call null → 2',
  ])
  // A batch that is ready counts only what is new.
  await cutBatch(store, id)
  await leaveUncertain(store, await stageRows(pool, { rows: 5, batchRows: 9 }))
  expect(await changedBy(pool, () => start(store, id))).toEqual([
    '{"status":"running","accepted":0,"failures":0}',
    'import_batches 3: resends 1 → 2',
    'import_recipients 2 4: maybe_sent 1 → 2',
    'import_recipients 2 5: maybe_sent 1 → 2',
    'import_recipients 2 6: maybe_sent null → 1',
    'imports 2: excluded_to_call 2 → 4',
  ])
})

test('all that the start of an import changes that is to hold what others may have sent: it is paused', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await leaveUncertain(store, await stageRows(pool, { rows: 2 }))
  const id = await stageRows(pool, { rows: 6, onUncertain: 'hold' })
  expect(await changedBy(pool, () => start(store, id))).toEqual([
    '{"status":"paused","accepted":0,"failures":0}',
    '+ events 1: at a time, data {"code":"UncertainElsewhere","page":"5750613685214","import":"2","requestId":null}, kind "import.paused", state "raised", account "default", is_open true, subject "2", message_id a key',
    'imports 2: status "queued" → "paused", pause_code null → "UncertainElsewhere", started_at null → a time, rests_since null → a time, pause_message null → "Import 1 may have sent 2 rows of it; the outcome is unknown.", pause_what_to_do null → "Check whether they arrived, record it with `ferry imports resolve 1 --as sent` (or `--as resend`), then resume."',
  ])
})

test('nothing changes with the start of an import while a call of another one of its page is under way', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await using worker = await openScriptedWorker(pool, await stageRows(pool, { rows: 2 }))
  await worker.claim()
  const id = await stageRows(pool, { rows: 2 })
  const elsewhere = await stageRows(pool, { rows: 2, pageId: 7n })
  expect(await changedBy(pool, () => start(store, id))).toEqual(['null'])
  expect(await start(store, elsewhere)).toMatchObject({ status: 'running' })
})
