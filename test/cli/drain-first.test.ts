import { Client } from 'pg'
import { expect, test } from 'vitest'
import { WAITING_FOR_LOCK } from '#test/support/locks.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { openCli } from './open-cli.ts'

test('a worker that is told to stop begins at once, though what tells people of events waits for a lock', async () => {
  await using cli = await openCli({ rules: 1, servers: 1 })
  await using worker = cli.ferryStart('worker', { FERRY_WEBHOOK_URL: 'http://127.0.0.1:9/' })
  await waitFor(async () => (await cli.query(`select from ferry.leases where name = 'notify'`)).length > 0, {
    what: 'the worker to tell of events',
  })
  const blocker = new Client(cli.databaseUrl)
  await blocker.connect()
  try {
    await blocker.query('begin; lock table ferry.events in access exclusive mode')
    await waitFor(async () => (await cli.query(WAITING_FOR_LOCK)).length > 0, { what: 'the worker to wait' })
    worker.child.kill('SIGTERM')
    await worker.printed('finishing what is under way')
  } finally {
    await blocker.end()
  }
  expect(await worker.ended).toMatchObject({ code: 0 })
})
