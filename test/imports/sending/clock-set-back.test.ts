import { expect, test } from 'vitest'
import { cancelImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { ACCEPTED, LOST, openScriptedWorker, sendBatches } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { start } from './start-import.ts'

/* The database's clock is set back by an hour: everything that has happened is in the future then. */

async function setClockBack(store: TestStore, ...ids: readonly bigint[]): Promise<void> {
  for (const id of ids) await ageImport(store.pool, id, '-1 hour')
}

test('whom another import sends after the clock was set back is left out all the same', async () => {
  await using store = await openTestStore()
  const first = await stageRows(store.pool, { rows: 200, batchRows: 5 })
  await sendBatches(store.pool, first, [ACCEPTED])
  const other = await stageRows(store.pool, { rows: 200, batchRows: 195 })
  await setClockBack(store, first)
  await sendBatches(store.pool, other, [ACCEPTED])

  await start(store, first)
  expect(await loadSummary(store.pool, first)).toMatchObject({ sent: 5, alreadyImported: 195, pending: 0 })
})

test.for([
  ['resent', async () => {}],
  [
    'rejected afterwards',
    async (store: TestStore, id: bigint) => {
      await store.pool.query(
        `with gone as (delete from ferry.import_recipients where import_id = $1 returning *)
         insert into ferry.import_rejects (import_id, line, origin, reason, message, recipient_hash, batch_id)
         select import_id, line, 'platform', 'r', 'm', recipient_hash, (select max(id) from ferry.import_batches)
         from gone`,
        [id],
      )
      await store.pool.query(
        `update ferry.import_batches set state = 'rejected', rows = 0 where import_id = $1`,
        [id],
      )
    },
  ],
] as const)(
  'whom another import may have sent after the clock was set back counts as resent: %s',
  async ([, then]) => {
    await using store = await openTestStore()
    const first = await stageRows(store.pool, { rows: 9, batchRows: 3 })
    await sendBatches(store.pool, first, [ACCEPTED])
    const other = await stageRows(store.pool, { rows: 9, batchRows: 6 })
    await setClockBack(store, first)
    await sendBatches(store.pool, other, [LOST])
    await cancelImport(store.pool, other, ADA)
    await then(store, other)

    await start(store, first)
    const { rows } = await store.pool.query(
      'select line from ferry.import_recipients where import_id = $1 and maybe_sent = 1 order by line',
      [first],
    )
    expect(rows.map(row => Number(row.line))).toEqual([5, 6, 7, 8, 9, 10])
  },
)

test('an update is compared with what was sent last, although the clock was set back in between', async () => {
  await using store = await openTestStore()
  const german = { rows: 3, settings: () => ({ locale: 'de-DE' }) }
  const newest = await stageRows(store.pool, { rows: 3, update: true, status: 'completed' })
  await setClockBack(store, newest)
  await stageRows(store.pool, { ...german, update: true, status: 'completed' })

  const [same, other] = [
    await stageRows(store.pool, { ...german, update: true }),
    await stageRows(store.pool, { rows: 3, update: true }),
  ]
  await start(store, same)
  expect(await loadSummary(store.pool, same)).toMatchObject({ alreadyImported: 3, pending: 0 })
  await start(store, other)
  expect(await loadSummary(store.pool, other)).toMatchObject({ alreadyImported: 0, pending: 3 })
})

test('what a person finds out about an older call counts, also for an import that has looked at later ones', async () => {
  await using store = await openTestStore()
  const other = await stageRows(store.pool, { rows: 6, batchRows: 6, onUncertain: 'resend' })
  await sendBatches(store.pool, other, [LOST])
  await cancelImport(store.pool, other, ADA)
  const id = await stageRows(store.pool, { rows: 9, batchRows: 3 })
  {
    await using worker = await openScriptedWorker(store.pool, id)
    await worker.release(await worker.claim())
  }
  await resolveUncertain(store.pool, other, 'sent', ADA)
  await start(store, id)
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 6, pending: 3 })
})
