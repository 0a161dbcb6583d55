import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import type { Caller } from '#src/notify/caller.ts'
import { deliverPending } from '#src/notify/deliver.ts'
import { Acceptances } from '#src/notify/pending.ts'
import { openNotifyHarness } from './notify-harness.ts'

/** Refuses to store what a receiver answered, as a full disk does. */
const FULL = `
  create function refuse_result() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
  create trigger full_disk before update on ferry.deliveries for each row execute function refuse_result()`

test('a message that was accepted while its outcome cannot be written is not sent again, and its outcome is written later', async () => {
  await using harness = await openNotifyHarness()
  const { pool } = harness.ferry
  const notifier = harness.openNotifier()
  for (const subject of ['1', '2']) await harness.raise({ subject }, { import: subject })
  await harness.route()
  await pool.query(FULL)
  for (let look = 1; look <= 3; look++) await expect(notifier.look()).rejects.toThrow('No space left')
  const told = () => harness.receiver.messages().map(({ data }) => data.import)
  expect(told()).toEqual(['1'])

  await pool.query('drop trigger full_disk on ferry.deliveries')
  await notifier.look()
  await notifier.look()
  expect(told()).toEqual(['1', '2'])
  expect(await harness.query('select attempts, http_status, failure from ferry.deliveries')).toEqual(
    [1, 2].map(() => ({ attempts: 1, http_status: 200, failure: null })),
  )
})

test('a message that was accepted as its worker stops is recorded', async () => {
  await using harness = await openNotifyHarness()
  const { pool } = harness.ferry
  await harness.raise({})
  await harness.route()
  const [receiver] = readConfig({ FERRY_WEBHOOK_URL: harness.receiver.url }).notify.receivers
  if (!receiver) throw new Error('the receiver is not read')
  const stopping = new AbortController()
  const caller: Caller = {
    async call() {
      stopping.abort()
      return { ok: true, httpStatus: 200 }
    },
    async [Symbol.asyncDispose]() {},
  }
  const acceptances = new Acceptances(pool, receiver.name)
  const log = pino({ level: 'silent' })
  await deliverPending({ pool, log, receiver, caller, acceptances, publicUrl: null }, stopping.signal)
  expect(await harness.query('select delivered_at is not null as told from ferry.deliveries')).toEqual([
    { told: true },
  ])
})
