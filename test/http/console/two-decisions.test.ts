import { expect, test } from 'vitest'
import { listActs } from '#src/db/audit.ts'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { ACCEPTED, LOST, sendAll, sendBatches } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { hiddenFields, openConsoleHarness, sendForm } from './console-harness.ts'

test('of two decisions about an import that are sent at the same moment only one is carried out', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const id = await stageRows(pool, { pageId: 7n, rows: 4, batchRows: 2, onUncertain: 'hold' })
  await sendBatches(pool, id, [ACCEPTED, LOST])
  await sendAll(pool, id)
  const paths = ['cancel', 'resolve/resend'].map(path => `/imports/${id}/${path}`)
  const forms = await Promise.all(paths.map(async path => hiddenFields((await harness.page(path)).text)))
  const other = await pool.connect()
  await other.query('begin')
  await other.query('select from ferry.imports where id = $1 for update', [id])
  const sent = paths.map((path, n) => sendForm(harness.http.address + path, forms[n]!))
  await waitFor(async () => (await harness.query(WAITING_FOR_LOCK)).length === 2, { what: 'both to wait' })
  await other.query('commit')
  other.release()
  const answers = await Promise.all(sent)
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 409])
  expect(
    (await listActs(pool, 100)).filter(({ action }) => ['cancel', 'resolve'].includes(action)),
  ).toHaveLength(1)
})
