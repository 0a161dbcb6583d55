import { expect, test } from 'vitest'
import { cancelImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ACCEPTED, naming, openScriptedWorker, refused, UNAUTHORIZED } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

const pause = async (store: TestStore, id: bigint) => pauseImport(store.pool, id, ADA)

/** Has a batch sent, of which eleven rows are proven wrong, while `meanwhile` happens; returns how the import stands then. */
async function rejectEleven(store: TestStore, meanwhile: (store: TestStore, id: bigint) => Promise<unknown>) {
  const id = await stageRows(store.pool, { rows: 40, batchRows: 20 })
  const named = Array.from({ length: 11 }, (_, n) => `p${n + 2}@example.com`)
  await using worker = await openScriptedWorker(store.pool, id)
  await worker.send(await worker.claim(), naming(...named))
  const claim = await worker.claim()
  await meanwhile(store, id)
  await worker.send(claim, ACCEPTED)
  const { rows } = await store.pool.query('select * from ferry.imports where id = $1', [id])
  return rows[0]
}

test('the pause for too many rejects is told beside that of a person who paused at the same moment', async () => {
  await using store = await openTestStore()
  expect(await rejectEleven(store, pause)).toMatchObject({
    status: 'paused',
    pause_code: 'TooManyRejects',
    pause_message: 'A person paused it. The platform rejected more than 1 % of the rows.',
    pause_what_to_do: expect.stringContaining('Look at the rejects'),
  })
})

test('the pause for too many rejects takes effect although a person paused and resumed the import meanwhile', async () => {
  await using store = await openTestStore()
  const both = async (store: TestStore, id: bigint) => {
    await pause(store, id)
    await resumeImport(store.pool, id, ADA)
  }
  expect(await rejectEleven(store, both)).toMatchObject({ status: 'paused', pause_code: 'TooManyRejects' })
})

test('an import that was cancelled meanwhile stays cancelled', async () => {
  await using store = await openTestStore()
  const cancel = (store: TestStore, id: bigint) => cancelImport(store.pool, id, ADA)
  expect(await rejectEleven(store, cancel)).toMatchObject({ status: 'cancelled', pause_code: null })
})

test('of several calls that are refused for the same reason the pause says it once', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4, batchRows: 2 })
  await using worker = await openScriptedWorker(store.pool, id)
  const claims = [await worker.claim(), await worker.claim()]
  await worker.send(claims[0]!, UNAUTHORIZED)
  await worker.send(claims[1]!, refused(401, 'Unauthorized', { requestId: 'req-later' }))
  const { rows } = await store.pool.query(
    'select pause_code, pause_request_id, pause_message from ferry.imports where id = $1',
    [id],
  )
  const message = 'The platform answered Unauthorized (HTTP 401).'
  expect(rows).toEqual([{ pause_code: 'Unauthorized', pause_request_id: 'req-2', pause_message: message }])
})

test('of two calls that are refused for two reasons the pause has both, and the code of the first', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4, batchRows: 2 })
  await using worker = await openScriptedWorker(store.pool, id)
  const claims = [await worker.claim(), await worker.claim()]
  await worker.send(claims[0]!, UNAUTHORIZED)
  await worker.send(claims[1]!, refused(403, 'AccessDenied'))
  const { rows } = await store.pool.query('select pause_code, pause_what_to_do from ferry.imports')
  expect(rows).toEqual([
    {
      pause_code: 'Unauthorized',
      pause_what_to_do: expect.stringMatching(/Check the app_key.*Give the role/),
    },
  ])
})

test('of three calls that are refused for two reasons the pause says each once', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 6, batchRows: 2 })
  await using worker = await openScriptedWorker(store.pool, id)
  const claims = [await worker.claim(), await worker.claim(), await worker.claim()]
  const denied = refused(403, 'AccessDenied')
  for (const [n, answer] of [UNAUTHORIZED, denied, denied].entries()) await worker.send(claims[n]!, answer)
  const { rows } = await store.pool.query('select pause_message from ferry.imports')
  const each = [
    'The platform answered Unauthorized (HTTP 401).',
    'The platform answered AccessDenied (HTTP 403).',
  ]
  expect(rows).toEqual([{ pause_message: each.join(' ') }])
})
