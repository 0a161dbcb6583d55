import { expect, test } from 'vitest'
import { confirmImport } from '#src/imports/control/decide.ts'
import { oldRecipients, purgeImport } from '#src/imports/control/purge.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { DAY_MS, removeOld } from '#test/support/prune.ts'
import { naming, sendAll, sendBatches } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { openStagingHarness, type StagingHarness } from '../staging/staging-harness.ts'

const PERSON = 'kanarie'

/** A finished import with a person in every place that may hold one. */
async function finished({ store, file, stage }: StagingHarness, pageId = 1n): Promise<bigint> {
  const people = [2, 3, 4, 5].map(line => `${PERSON}${line}@example.com`)
  const [, , wrong = '', unsubscribed = ''] = people
  const suppress = await file(unsubscribed)
  const { import: id } = await stage(['email', ...people].join('\n'), { suppress, pageId })
  await confirmImport(store.pool, id!, ADA)
  await sendBatches(store.pool, id!, [naming(wrong)])
  await sendAll(store.pool, id!)
  return id!
}

async function everyRowOf({ store }: StagingHarness, id: bigint): Promise<string> {
  const tables = ['import_recipients', 'import_rejects', 'import_left_out', 'import_batches']
  const rows = await Promise.all([
    store.pool.query('select i::text as row from ferry.imports i where id = $1', [id]),
    ...tables.map(table =>
      store.pool.query(`select t::text as row from ferry.${table} t where import_id = $1`, [id]),
    ),
  ])
  return rows.flatMap(({ rows }) => rows.map(({ row }) => row)).join('\n')
}

async function hashesOf({ store }: StagingHarness, id: bigint): Promise<unknown[]> {
  const { rows } = await store.pool.query(
    `select line, recipient_hash from ferry.import_recipients where import_id = $1
     union select line, recipient_hash from ferry.import_rejects where import_id = $1
     union select line, recipient_hash from ferry.import_left_out where import_id = $1 order by line`,
    [id],
  )
  return rows
}

test('a purge removes every person and keeps numbers, hashes and the sum', async () => {
  await using harness = await openStagingHarness()
  const { store } = harness
  const id = await finished(harness)
  const other = await finished(harness, 2n)
  const [hashes, report] = [await hashesOf(harness, id), await reportImport(store.pool, id)]
  expect(report.summary).toMatchObject({ sent: 2, rejected: 1, suppressed: 1 })
  expect(await everyRowOf(harness, id)).toContain(PERSON)

  expect(await purgeImport(store.pool, id, ADA)).toBe(4)

  expect(await everyRowOf(harness, id)).not.toContain(PERSON)
  expect(await hashesOf(harness, id)).toEqual(hashes)
  const after = await reportImport(store.pool, id)
  expect(after.differences).toEqual([])
  expect(after.summary).toEqual(report.summary)
  expect(after.purgedAt).toBeInstanceOf(Date)
  expect(await purgeImport(store.pool, id, ADA)).toBe(0)
  expect((await reportImport(store.pool, id)).purgedAt).toEqual(after.purgedAt)
  expect(await everyRowOf(harness, other)).toContain(PERSON)
})

test('imports that ended a month ago are purged, others are not', async () => {
  await using harness = await openStagingHarness()
  const { store } = harness
  const [old, young] = [await finished(harness), await finished(harness, 2n)]
  const paused = await stageRows(store.pool, { status: 'paused' })
  await ageImport(store.pool, old, '31 days')
  await ageImport(store.pool, young, '29 days')
  await ageImport(store.pool, paused, '31 days')
  const isOld = oldRecipients(store.pool, 30 * DAY_MS)
  expect(await removeOld(isOld)).toBeGreaterThan(0)
  expect(await everyRowOf(harness, old)).not.toContain(PERSON)
  expect(await everyRowOf(harness, young)).toContain(PERSON)
  expect(await removeOld(isOld)).toBe(0)
  expect(await removeOld(oldRecipients(store.pool, null))).toBe(0)
})

test.for([4_999, 5_000, 5_001, 10_000])(
  'an import of %i rows is purged whole, after a part that is purged already, too',
  async rows => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows, status: 'cancelled' })
    const people = async () => {
      const sum =
        'select count(*)::int as n from ferry.import_recipients where recipient is not null or raw is not null'
      return (await store.pool.query<{ n: number }>(sum)).rows[0]?.n
    }
    await ageImport(store.pool, id, '31 days')
    await store.pool.query(
      'update ferry.import_recipients set recipient = null, raw = null where line < 5_002',
    )
    const left = await people()
    const isOld = oldRecipients(store.pool, 30 * DAY_MS)
    // What is purged part by part is done before the rest is purged at once.
    const stopped = AbortSignal.abort()
    expect(await isOld.remove(stopped)).toBe(0)
    expect(await people()).toBe(left)
    expect(await removeOld(isOld)).toBe(left)
    expect(await people()).toBe(0)
  },
)

test('an import that cannot be purged keeps its people alone', async () => {
  await using store = await openTestStore()
  const ids = [
    await stageRows(store.pool, { status: 'cancelled' }),
    await stageRows(store.pool, { status: 'cancelled' }),
  ]
  for (const id of ids) await ageImport(store.pool, id, '31 days')
  await store.pool.query(`
    create function ferry.refuse() returns trigger language plpgsql as $$ begin raise 'It is locked.'; end $$;
    create trigger refuse before update of purged_at on ferry.imports
      for each row when (new.id = ${ids[0]}) execute function ferry.refuse()`)
  const { remove } = oldRecipients(store.pool, 30 * DAY_MS)
  await expect(remove(new AbortController().signal)).rejects.toThrow(
    `imports not purged: ${ids[0]}. It is locked.`,
  )
  const { rows } = await store.pool.query(
    'select purged_at is not null as is_purged from ferry.imports order by id',
  )
  expect(rows).toEqual([{ is_purged: false }, { is_purged: true }])
})
