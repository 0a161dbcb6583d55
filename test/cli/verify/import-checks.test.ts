import { Pool, type PoolClient } from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Check, findBroken } from '#src/db/verify.ts'
import { purgeImport } from '#src/imports/control/purge.ts'
import { BATCH_CHECKS } from '#src/imports/reporting/verify-batches.ts'
import { DECISION_CHECKS } from '#src/imports/reporting/verify-decisions.ts'
import { ROW_CHECKS } from '#src/imports/reporting/verify-rows.ts'
import { ADA } from '#test/support/acted-by.ts'
import { withDatabase } from '#test/support/database.ts'
import { LOST, openScriptedWorker } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

/* All that every check of imports finds in a damage: whole sentences, and no other rows. */

const CHECKS: readonly Check[] = [...ROW_CHECKS, ...BATCH_CHECKS, ...DECISION_CHECKS]

/** Imports 1 to 7: staging, completed, paused, undecided, cancelled, running with a call under way, and purged. */
let store: TestStore
beforeAll(async () => {
  store = await openTestStore()
  const { pool } = store
  let pageId = 100n
  for (const status of ['staging', 'completed', 'paused', 'undecided', 'cancelled'] as const) {
    await stageRows(pool, { status, rows: 4, batchRows: 2, pageId: pageId++ })
  }
  const running = await stageRows(pool, { rows: 4, batchRows: 2, pageId: pageId++ })
  await using worker = await openScriptedWorker(pool, running)
  await worker.send(await worker.claim(), LOST)
  await worker.claim()
  await purgeImport(pool, await stageRows(pool, { rows: 1, status: 'cancelled', pageId }), ADA)
})
afterAll(() => store[Symbol.asyncDispose]())

/** What is found after a damage, which is undone. Only a superuser can do some of them. */
async function foundAfter(damage: string): Promise<string[]> {
  const superuser = new Pool({
    connectionString: withDatabase(inject('database').superuserUrl, new URL(store.url).pathname.slice(1)),
  })
  const client = await superuser.connect()
  try {
    await client.query('begin')
    await client.query(damage)
    return await foundBy(client)
  } finally {
    await client.query('rollback')
    client.release()
    await superuser.end()
  }
}

async function foundBy(client: PoolClient): Promise<string[]> {
  const found: string[] = []
  for (const check of CHECKS) {
    for await (const sentence of findBroken(client, check)) found.push(`${check.name}: ${sentence}`)
  }
  return found
}

const set = (id: number, changes: string) => `update ferry.imports set ${changes} where id = ${id};`
const counts = (id: number, what: string, kept: number, counted: number) =>
  `import counts: ferry.imports: import ${id} keeps ${what} = ${kept}, but its rows are ${counted}`
const status = (id: number, is: string) =>
  `import statuses: ferry.imports: import ${id} is ${is} not sent, or its times are not those of this status`
const rest = (table: string, rows: string) =>
  `rows of no import: ferry.${table}: ${rows} to import 99, which does not exist`
/** Without the guard of the table, which is not what is tested. */
const UNGUARDED = 'set local session_replication_role = replica;'
const stray = (table: string, columns: string, values: string) =>
  `insert into ferry.${table} (import_id, ${columns}) values (99, ${values});`

test('nothing is found in what Ferry has done', async () => {
  expect(await foundAfter('select')).toEqual([])
})

test.each<[string, string[]]>([
  [
    set(2, 'read = read + 1'),
    ['import sums: ferry.imports: import 2 has read 5 rows and accounts for 4, 0 of them pending'],
  ],
  [
    set(1, 'read = 1'),
    ['import sums: ferry.imports: import 1 has read 1 row and accounts for 4, 4 of them pending'],
  ],
  [set(1, 'duplicate = 1, read = 5'), [counts(1, 'duplicate', 1, 0)]],
  [set(1, 'suppressed = 1, read = 5'), [counts(1, 'suppressed', 1, 0)]],
  [set(1, 'already_imported = 1, read = 5'), [counts(1, 'already_imported', 1, 0)]],
  [
    set(1, 'rejected = 1, rejected_by_platform = 1, read = 5'),
    [counts(1, 'rejected', 1, 0), counts(1, 'rejected_by_platform', 1, 0)],
  ],
  [set(4, 'batches = 3'), [counts(4, 'batches', 3, 2)]],
  [set(2, 'requests = 0'), [counts(2, 'requests', 0, 2)]],
  [
    stray('import_recipients', 'line, recipient_hash, "all", locale', `2, gen_random_uuid(), true, 'en-US'`),
    [rest('import_recipients', '1 row belongs')],
  ],
  [
    stray('import_rejects', 'line, origin, reason, message', `2, 'file', 'x', 'x'`)
      .repeat(2)
      .replace('2,', '3,'),
    [rest('import_rejects', '2 rows belong')],
  ],
  [
    stray('import_left_out', 'line, kind, reason', `2, 'suppressed', 'x'`),
    [rest('import_left_out', '1 row belongs')],
  ],
  [
    `${UNGUARDED} ${stray('import_batches', 'from_line, to_line, rows, state', `2, 2, 0, 'ready'`)}`,
    [rest('import_batches', '1 row belongs')],
  ],
  [set(2, 'finished_at = null'), [status(2, 'completed with 0 rows')]],
  [set(3, 'rests_since = null'), [status(3, 'paused with 4 rows')]],
  [set(6, 'confirmed_at = null'), [status(6, 'running with 4 rows')]],
  [
    set(1, 'confirmed_at = now()'),
    [
      status(1, 'staging with 4 rows'),
      'decisions on imports: ferry.audit: nobody is recorded who did confirm import 1',
    ],
  ],
  [set(6, 'purged_at = now()'), [status(6, 'running with 4 rows')]],
  [set(4, 'uncertain = 0'), [counts(4, 'uncertain', 0, 4), status(4, 'undecided with 4 rows')]],
  [set(2, 'sent = 3'), [counts(2, 'sent', 3, 4), status(2, 'completed with 1 row')]],
  [
    `delete from ferry.audit where subject_id = '5' and action = 'cancel';`,
    ['decisions on imports: ferry.audit: nobody is recorded who did cancel import 5'],
  ],
  [
    `update ferry.audit set subject_id = '99' where subject_id = '3' and action = 'pause';`,
    [
      'decisions on imports: ferry.audit: nobody is recorded who did pause import 3',
      'decisions on imports: ferry.audit: a person did pause import 99, which does not exist',
    ],
  ],
  [
    `update ferry.events set is_open = false where subject = '4';`,
    ['events of imports: ferry.events: nobody is told of import.undecided of import 4'],
  ],
  [
    `update ferry.events set account = 'other' where subject = '3';`,
    [
      'events of imports: ferry.events: nobody is told of import.paused of import 3',
      'events of imports: ferry.events: import.paused is open for import 3, but it is not so',
    ],
  ],
])('a damage is found with its whole sentence, and nothing else: %s', async (damage, found) => {
  expect((await foundAfter(damage)).sort()).toEqual(found.sort())
})

test('a batch whose claim does not fit its state is found', async () => {
  const of = (damage: string) => foundAfter(`${UNGUARDED} ${damage}`)
  const [{ id, call } = { id: '', call: '' }] = (
    await store.pool.query<{ id: string; call: string }>(
      `select id, call_id as call from ferry.import_batches where import_id = 2 order by from_line limit 1`,
    )
  ).rows
  const batch = `batch calls: ferry.import_batches: batch ${id} of import 2 is sent,`
  const change = (changes: string) => of(`update ferry.import_batches set ${changes} where id = ${id};`)
  expect(await change('claim = gen_random_uuid()')).toEqual([`${batch} but no call of it is known`])
  expect(await change('call_id = null')).toEqual([`${batch} but no call of it is known`])
  expect(await change('sent_at = null')).toEqual([`${batch} but no call of it is known`])
  expect(await of(`delete from ferry.platform_calls where id = ${call};`)).toEqual([
    counts(2, 'requests', 2, 1),
    `${batch} but its call is not in ferry.platform_calls`,
  ])
  const inFlight = await of(
    `update ferry.import_batches set claim_ends_at = null where import_id = 6 and state = 'in flight';`,
  )
  expect(inFlight).toEqual([
    expect.stringMatching(/^batch calls: .* of import 6 is in flight, and has a claim$/),
  ])
  const unclaimed = await of(
    `update ferry.import_batches set claim = null where import_id = 6 and state = 'in flight';`,
  )
  expect(unclaimed).toEqual([
    expect.stringMatching(/^batch calls: .* of import 6 is in flight, and has no claim$/),
  ])
})

const CORRECT =
  'Pause the import (`ferry imports pause ID`) before it sends more. Compare its rows with a backup, and the file with the ' +
  'platform; nothing of it may be sent again before it is known who was.'
const SENT_TWICE =
  'Pause the import (`ferry imports pause ID`): rows of two batches would be sent twice, and rows of none not at all. ' +
  'Compare its batches with a backup.'

test('each check says what it holds, and what to do', () => {
  expect(CHECKS.map(({ name, holds, whatToDo }) => [name, holds, whatToDo])).toEqual([
    [
      'import sums',
      'rows read = sent + rejected + duplicate + suppressed + already imported + uncertain + pending',
      CORRECT,
    ],
    [
      'import counts',
      'the counts kept with an import are those of its rows, batches and calls',
      `${CORRECT} If the rows are right, correct the count as the owner of the table.`,
    ],
    [
      'import places',
      'a row of a file is in exactly one of import_recipients, import_rejects and import_left_out',
      CORRECT,
    ],
    [
      'rows of no import',
      'every row of a file, every batch and every call of a batch belongs to one that exists',
      'Restore what is missing from a backup: these people may have been sent.',
    ],
    [
      'batch ranges',
      'the batches of an import do not overlap, and end with the last line that is in a batch',
      SENT_TWICE,
    ],
    ['batch gaps', 'every recipient up to the last line that is in a batch is in one', SENT_TWICE],
    ['batch rows', 'a batch has as many recipients as it counts', SENT_TWICE],
    [
      'batch calls',
      'a sent batch has its call in the call log, and a batch in flight has a claim that ends',
      'Find out on the platform whether its rows arrived; compare the batch and ferry.platform_calls with a backup.',
    ],
    [
      'import statuses',
      'an import that has ended has an end, a completed one has sent its rows, a waiting one waits for something',
      '`ferry imports show ID` shows what Ferry knows of it; compare the row with a backup.',
    ],
    [
      'decisions on imports',
      'who decided about an import is in the audit, and what the audit names exists',
      'A row is missing: compare ferry.audit and ferry.imports with a backup.',
    ],
    [
      'events of imports',
      'people are told of each import that waits for a person, and of no other',
      '`ferry imports show ID` says what is so. As the owner of the table, set is_open = false in a row too many.',
    ],
  ])
})
