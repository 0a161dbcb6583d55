import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { cancelImport, confirmImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { purgeImport } from '#src/imports/control/purge.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import type { ActedBy } from '#src/model/act.ts'
import { changedBy } from '#test/support/changed-rows.ts'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { ACCEPTED, LOST, naming, sendBatches, UNAUTHORIZED } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

/* All that a decision about an import changes in the database, and what the same decision changes right after it. */

const SAM: ActedBy = { actor: 'sam', because: 'the page is ready' }

const acted = (id: number, action: string) =>
  `+ audit ${id}: at a time, actor "sam", action "${action}", account "default", because "the page is ready", subject_id "1", subject_kind "import"`

type Decision = {
  /** Makes the import, and returns its id. */
  readonly of: (pool: Pool) => Promise<bigint>
  readonly decide: (pool: Pool, id: bigint) => Promise<unknown>
  readonly first: readonly string[]
  readonly second: readonly string[]
}

const sent = async (pool: Pool, answers: Parameters<typeof sendBatches>[2]) => {
  const id = await stageRows(pool, { rows: 4, batchRows: 2, onUncertain: 'hold' })
  await sendBatches(pool, id, answers)
  return id
}

const DECISIONS: Readonly<Record<string, Decision>> = {
  'confirmed with rows': {
    of: pool => stageRows(pool, { rows: 2, status: 'staging' }),
    decide: (pool, id) => confirmImport(pool, id, SAM),
    first: [
      '"queued"',
      acted(1, 'confirm'),
      'imports 1: status "staging" → "queued", max_rejects 0 → 10, confirmed_at null → a time',
    ],
    second: [
      'ImportRefuses: import 1 is queued: only a staged import can be confirmed. `ferry imports pause 1` pauses it, `ferry imports cancel 1` ends it.',
    ],
  },
  'confirmed without rows': {
    of: pool => stageRows(pool, { rows: 0, status: 'staging' }),
    decide: (pool, id) => confirmImport(pool, id, SAM),
    first: [
      '"completed"',
      acted(1, 'confirm'),
      '+ events 1: at a time, data {"page":"5750613685214","import":"1"}, kind "import.completed", state "raised", account "default", is_open false, subject "1", message_id a key',
      'imports 1: status "staging" → "completed", started_at null → a time, finished_at null → a time, max_rejects 0 → 10, confirmed_at null → a time',
    ],
    second: [
      'ImportRefuses: import 1 is completed: only a staged import can be confirmed. `ferry imports show 1` shows its outcome.',
    ],
  },
  'paused while it is sent': {
    of: pool => sent(pool, [ACCEPTED]),
    decide: (pool, id) => pauseImport(pool, id, SAM),
    first: [
      '"paused"',
      acted(2, 'pause'),
      '+ events 1: at a time, data {"code":null,"page":"5750613685214","import":"1","requestId":null}, kind "import.paused", state "raised", account "default", is_open true, subject "1", message_id a key',
      'imports 1: status "running" → "paused", rests_since null → a time, pause_message null → "A person paused it."',
    ],
    second: [
      'ImportRefuses: import 1 is paused: only a queued or running import can be paused. `ferry imports resume 1` continues it, `ferry imports cancel 1` ends it.',
    ],
  },
  'resumed after the platform refused it': {
    of: pool => sent(pool, [ACCEPTED, UNAUTHORIZED]),
    decide: (pool, id) => resumeImport(pool, id, SAM),
    first: [
      '"queued"',
      acted(2, 'resume'),
      '+ events 2: at a time, data {"code":"Unauthorized","page":"5750613685214","import":"1","requestId":"req-2"}, kind "import.paused", state "resolved", account "default", is_open false, subject "1", message_id a key',
      'events 1: is_open true → false',
      'imports 1: status "paused" → "queued", rested_ms 0 → some, pause_code "Unauthorized" → null, rests_since a time → null, pause_message "The platform answered Unauthorized (HTTP 401)." → null, pause_request_id "req-2" → null, pause_what_to_do "Check the app_key of this account; create a new one if it has expired." → null',
    ],
    second: [
      'ImportRefuses: import 1 is queued: only a paused import can be resumed. `ferry imports pause 1` pauses it, `ferry imports cancel 1` ends it.',
    ],
  },
  'cancelled with rows left': {
    of: pool => sent(pool, [ACCEPTED]),
    decide: (pool, id) => cancelImport(pool, id, SAM),
    first: [
      '"cancelled"',
      acted(2, 'cancel'),
      'imports 1: status "running" → "cancelled", finished_at null → a time',
    ],
    second: [
      'ImportRefuses: import 1 is cancelled: it has ended already. To send the others, import the file again: recipients that were sent are left out.',
    ],
  },
  'cancelled before it was confirmed': {
    of: pool => stageRows(pool, { rows: 2, status: 'staging' }),
    decide: (pool, id) => cancelImport(pool, id, SAM),
    first: [
      '"cancelled"',
      acted(1, 'cancel'),
      'imports 1: status "staging" → "cancelled", finished_at null → a time',
    ],
    second: [
      'ImportRefuses: import 1 is cancelled: it has ended already. To send the others, import the file again: recipients that were sent are left out.',
    ],
  },
  'resolved as sent': {
    of: pool => stageRows(pool, { rows: 2, batchRows: 1, status: 'undecided' }),
    decide: (pool, id) => resolveUncertain(pool, id, 'sent', SAM),
    first: [
      '{"batches":2,"rows":2,"status":"completed"}',
      acted(2, 'resolve'),
      '+ events 2: at a time, data {"page":"5750613685214","import":"1"}, kind "import.undecided", state "resolved", account "default", is_open false, subject "1", message_id a key',
      '+ events 3: at a time, data {"page":"5750613685214","import":"1"}, kind "import.completed", state "raised", account "default", is_open false, subject "1", message_id a key',
      '+ import_locales 1 en-US: sent 2',
      'events 1: is_open true → false',
      'import_batches 1: state "uncertain" → "sent", message "The call got no complete answer: reset." → "resolved as sent by a person", sent_at null → a time, uncertain true → false',
      'import_batches 2: state "uncertain" → "sent", message "The call got no complete answer: reset." → "resolved as sent by a person", sent_at null → a time, uncertain true → false',
      'imports 1: sent 0 → 2, status "undecided" → "completed", rested_ms 0 → some, uncertain 2 → 0, finished_at null → a time, rests_since a time → null',
    ],
    second: [
      'ImportRefuses: import 1 is completed: it has no uncertain batch; if another import was paused because of it, resume that one. `ferry imports show 1` shows its outcome.',
    ],
  },
  'resolved as to be sent again': {
    of: pool => stageRows(pool, { rows: 2, batchRows: 1, status: 'undecided' }),
    decide: (pool, id) => resolveUncertain(pool, id, 'resend', SAM),
    first: [
      '{"batches":2,"rows":2,"status":"queued"}',
      acted(2, 'resolve'),
      '+ events 2: at a time, data {"page":"5750613685214","import":"1"}, kind "import.undecided", state "resolved", account "default", is_open false, subject "1", message_id a key',
      'events 1: is_open true → false',
      'import_batches 1: state "uncertain" → "ready", resends 0 → 1, uncertain true → false',
      'import_batches 2: state "uncertain" → "ready", resends 0 → 1, uncertain true → false',
      'imports 1: status "undecided" → "queued", rested_ms 0 → some, uncertain 2 → 0, rests_since a time → null',
    ],
    second: [
      'ImportRefuses: import 1 is queued: it has no uncertain batch; `ferry imports show 1` shows its batches. `ferry imports pause 1` pauses it, `ferry imports cancel 1` ends it.',
    ],
  },
  'resolved while it is sent': {
    of: pool => sent(pool, [LOST]),
    decide: (pool, id) => resolveUncertain(pool, id, 'sent', SAM),
    first: [
      '{"batches":1,"rows":2,"status":"running"}',
      acted(2, 'resolve'),
      '+ import_locales 1 en-US: sent 2',
      'import_batches 1: state "uncertain" → "sent", message "The call got no complete answer: reset." → "resolved as sent by a person", sent_at null → a time, uncertain true → false',
      'imports 1: sent 0 → 2, uncertain 2 → 0',
    ],
    second: [
      'ImportRefuses: import 1 is running: it has no uncertain batch; `ferry imports show 1` shows its batches. `ferry imports pause 1` pauses it, `ferry imports cancel 1` ends it.',
    ],
  },
  purged: {
    of: async pool => {
      const id = await sent(pool, [naming('p2@example.com'), ACCEPTED, ACCEPTED])
      await cancelImport(pool, id, SAM)
      return id
    },
    decide: (pool, id) => purgeImport(pool, id, SAM),
    first: [
      '4',
      acted(3, 'purge'),
      'import_recipients 1 3: raw "p3@example.com" → null, recipient "p3@example.com" → null',
      'import_recipients 1 4: raw "p4@example.com" → null, recipient "p4@example.com" → null',
      'import_recipients 1 5: raw "p5@example.com" → null, recipient "p5@example.com" → null',
      'import_rejects 1 2: raw "p2@example.com" → null',
      'imports 1: purged_at null → a time',
    ],
    second: ['0'],
  },
}

test.each(Object.entries(DECISIONS))(
  '%s: what the first one changes, and the second',
  async (_, decision) => {
    await using store = await openTestStore()
    const { pool } = store
    const id = await decision.of(pool)
    const decided = () => changedBy(pool, () => decision.decide(pool, id))
    expect({ first: await decided(), second: await decided() }).toEqual({
      first: decision.first,
      second: decision.second,
    })
  },
)

test('of two decisions at the same moment one is refused', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const id = await stageRows(pool, { rows: 2 })
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select from ferry.imports where id = $1 for update', [id])
  const decisions = Promise.allSettled([pauseImport(pool, id, SAM), pauseImport(pool, id, SAM)])
  await waitFor(async () => (await pool.query(WAITING_FOR_LOCK)).rowCount === 2, {
    what: 'both decisions to wait',
  })
  await holder.query('commit')
  holder.release()
  expect((await decisions).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const { rows } = await pool.query(`select actor from ferry.audit where action = 'pause'`)
  expect(rows).toEqual([{ actor: 'sam' }])
})

test('a cancelled import of which something is uncertain says what to do first', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const id = await stageRows(pool, { rows: 2, status: 'undecided' })
  await cancelImport(pool, id, SAM)
  await expect(cancelImport(pool, id, SAM)).rejects.toThrow(
    'import 1 is cancelled: it has ended already. To send the others, import the file again: recipients that were sent are ' +
      'left out. Decide about its uncertain batches first. `ferry imports resolve 1 --as sent` marks the uncertain rows as ' +
      'sent, `ferry imports resolve 1 --as resend` sends them again.',
  )
})
