import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ImportOptions } from '#src/imports/staging/options.ts'
import { dryRun, stageImport } from '#src/imports/staging/stage.ts'
import type { StagingReport } from '#src/imports/staging/staging-report.ts'
import { putBatches } from '#test/support/batches.ts'
import { changedBy } from '#test/support/changed-rows.ts'
import { stageRows } from '#test/support/staged.ts'
import { NEVER, OPTIONS } from '../options.ts'
import { openStagingHarness, type StagingHarness } from './staging-harness.ts'

/* All that a staging stores, and all that it says, of a file with a row of each kind. */

const ROWS = [
  'Email;All;Components;Locale;Confirmed;Note',
  'ada@example.com;yes;;en-GB;true;A',
  'Ada@example.com;yes;;de-DE;true;',
  'Ben <ben@example.com>;no;c1|c2;de;true;',
  '\u200bcleo@example.com;no;c1;;true;"one\ndan@example.com"',
  'out@example.com;yes;;en-US;true;',
  'sent@example.com;yes;;en-US;true;',
  'unconfirmed@example.com;yes;;en-US;false;',
  'nobody;yes;;en-US;true;',
  ';yes;;en-US;true;',
  'nobody else;yes;;en-US;true;',
  'eve@example.com;yes;;xx;true;',
  'fay@example.com;yes',
]
const WRONG = 'the recipient is not an e-mail address'
const LOCALE =
  'a locale is a language and a region that exist, such as en-US; --map-locale de=de-DE maps de to a locale'

let harness: StagingHarness
let path: string
let options: ImportOptions
beforeAll(async () => {
  harness = await openStagingHarness()
  const recipient = () => 'sent@example.com'
  await stageRows(harness.store.pool, { pageId: 7n, rows: 1, recipient, status: 'completed' })
  path = await harness.file(`${ROWS.join('\n')}\n`, 'people.csv')
  options = {
    ...OPTIONS,
    from: 'instatus',
    map: { locale: 'Locale', all: 'All' },
    mapLocale: { de: 'de-AT' },
    suppress: await harness.file('out@example.com\n', 'suppress.csv'),
    components: await harness.file('c1,n1\nc2,n2\n', 'components.csv'),
    lenientAddresses: true,
    all: false,
    batchRows: 2,
    firstRows: 1,
    onUncertain: 'hold',
    update: true,
  }
})
afterAll(() => harness[Symbol.asyncDispose]())

/** What is said of the file, without its place, and what is stored. */
async function changes(how: typeof stageImport): Promise<{ report: StagingReport; stored: string[] }> {
  const reports: StagingReport[] = []
  const stored = await changedBy(harness.store.pool, async () => {
    reports.push(await how(harness.store, path, options, { signal: NEVER }))
  })
  return {
    report: reports[0]!,
    stored: stored.map(line => line.replaceAll(`${dirname(path)}/`, '')),
  }
}

const reported = (id: bigint | null): StagingReport => ({
  import: id,
  summary: {
    import: id,
    account: 'default',
    page: 7n,
    status: 'staging',
    read: 12,
    sent: 0,
    rejected: 5,
    duplicate: 1,
    suppressed: 2,
    alreadyImported: 1,
    uncertain: 0,
    pending: 3,
    batches: 2,
    requests: 0,
    durationMs: expect.any(Number),
  },
  file: {
    compression: 'none',
    format: 'csv',
    delimiter: ';',
    columns: ['Email', 'All', 'Components', 'Locale', 'Confirmed', 'Note'],
    mapped: {
      recipient: 'Email',
      all: 'All',
      component_ids: 'Components',
      locale: 'Locale',
      confirmed: 'Confirmed',
    },
    unused: ['Note'],
  },
  reasons: [
    { kind: 'rejected', reason: 'not an e-mail address', rows: 2 },
    { kind: 'rejected', reason: 'no recipient', rows: 1 },
    { kind: 'rejected', reason: 'not a locale', rows: 1 },
    { kind: 'rejected', reason: 'number of fields', rows: 1 },
    { kind: 'duplicate', reason: 'other locale', rows: 1 },
    { kind: 'suppressed', reason: 'suppression list', rows: 1 },
    { kind: 'suppressed', reason: 'unconfirmed', rows: 1 },
    { kind: 'already imported', reason: 'already imported', rows: 1 },
  ],
  samples: [
    { line: 2n, recipient: 'a…@example.com', all: true, componentIds: [], locale: 'en-GB' },
    { line: 4n, recipient: 'b…@example.com', all: false, componentIds: ['n1', 'n2'], locale: 'de-AT' },
    { line: 5n, recipient: 'c…@example.com', all: false, componentIds: ['n1'], locale: 'en-US' },
  ],
  rejectSamples: [
    { line: 10n, column: 'Email', message: WRONG },
    { line: 11n, column: 'Email', message: 'the row has no recipient' },
    { line: 12n, column: 'Email', message: WRONG },
    { line: 13n, column: 'Locale', message: LOCALE },
    { line: 14n, column: null, message: 'the line has 2 fields, the header has 6' },
  ],
  warnings: [
    'Invisible characters were removed from 1 address.',
    'A name, or a comma or semicolon at the end, was removed from 1 address: only the address is sent.',
    "1 row repeats a recipient with another locale: the locale of the recipient's first row is used.",
  ],
})

test('a dry run says all, and stores nothing', async () => {
  const { report, stored } = await changes(dryRun)
  expect(report).toEqual(reported(null))
  expect(stored).toEqual(['nothing'])
})

test('a staging stores every row in its place, with all that is known of it', async () => {
  const { report, stored } = await changes(stageImport)
  expect(report).toEqual(reported(2n))
  expect(stored).toEqual([
    'nothing',
    '+ import_left_out 2 3: kind "duplicate", reason "other locale", kept_line 2, recipient "Ada@example.com", recipient_hash a key',
    '+ import_left_out 2 7: kind "suppressed", reason "suppression list", recipient "out@example.com", recipient_hash a key',
    '+ import_left_out 2 9: kind "suppressed", reason "unconfirmed", recipient "unconfirmed@example.com", recipient_hash a key',
    '+ import_recipients 2 2: all true, raw "ada@example.com;yes;;en-GB;true;A", locale "en-GB", recipient "ada@example.com", recipient_hash a key',
    '+ import_recipients 2 4: all false, raw "Ben <ben@example.com>;no;c1|c2;de;true;", locale "de-AT", recipient "ben@example.com", component_ids ["n1","n2"], recipient_hash a key',
    '+ import_recipients 2 5: all false, raw "\u200bcleo@example.com;no;c1;;true;\\"one\\ndan@example.com\\"", locale "en-US", recipient "cleo@example.com", component_ids ["n1"], recipient_hash a key',
    '+ import_recipients 2 8: all true, raw "sent@example.com;yes;;en-US;true;", locale "en-US", recipient "sent@example.com", recipient_hash a key',
    `+ import_rejects 2 10: raw "nobody;yes;;en-US;true;", column "Email", origin "file", reason "not an e-mail address", message "${WRONG}"`,
    '+ import_rejects 2 11: raw ";yes;;en-US;true;", column "Email", origin "file", reason "no recipient", message "the row has no recipient"',
    `+ import_rejects 2 12: raw "nobody else;yes;;en-US;true;", column "Email", origin "file", reason "not an e-mail address", message "${WRONG}"`,
    `+ import_rejects 2 13: raw "eve@example.com;yes;;xx;true;", column "Locale", origin "file", reason "not a locale", message "${LOCALE}"`,
    '+ import_rejects 2 14: raw "fay@example.com;yes", origin "file", reason "number of fields", message "the line has 2 fields, the header has 6"',
    '+ imports 2: file "people.csv", read 12, sent 0, method "email", status "staging", account "default", batched 0, batches 0, columns ["Email","All","Components","Locale","Confirmed","Note"], options {"all":false,"map":{"all":"All","locale":"Locale"},"file":{"format":"csv","delimiter":";","compression":"none"},"from":"instatus","suppress":"suppress.csv","mapLocale":{"de":"de-AT"},"components":"components.csv","defaultLocale":"en-US","lenientAddresses":true}, page_id 7, accepted 0, failures 0, rejected 5, requests 0, duplicate 1, last_line 14, rested_ms 0, staged_at a time, uncertain 0, batch_rows 2, batched_to 0, created_at a time, first_rows 1, recipients 4, suppressed 2, unaccepted 0, max_rejects 0, on_uncertain "hold", update_existing true, already_imported 0, rejected_by_platform 0',
  ])
})

test('a row that was rejected after a single uncertain outcome may have been sent', async () => {
  await using other = await openStagingHarness()
  const { pool } = other.store
  const id = await stageRows(pool, { pageId: OPTIONS.pageId, rows: 1, status: 'cancelled' })
  const [batch] = await putBatches(pool, id, [{ state: 'rejected', resends: 1 }])
  await pool.query(
    `insert into ferry.import_rejects (import_id, line, origin, reason, message, recipient_hash, batch_id)
     select import_id, line, 'platform', 'r', 'm', recipient_hash, $2 from ferry.import_recipients where import_id = $1`,
    [id, batch],
  )
  expect((await other.stage('email\np2@example.com\n')).warnings).toEqual([
    '1 of these recipients may have been sent by import 1; the outcome is unknown. This import sends them again and counts ' +
      'them as resent.',
  ])
})
