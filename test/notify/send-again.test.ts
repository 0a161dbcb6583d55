import { expect, test } from 'vitest'
import { sendAgain } from '#src/notify/send-again.ts'
import { ADA } from '#test/support/acted-by.ts'
import { openNotifyHarness } from './notify-harness.ts'

test('a message that is dead or was delivered is sent once more as if it never had been, and no other; who asked is recorded', async () => {
  await using harness = await openNotifyHarness()
  const { pool } = harness.ferry
  for (const subject of ['1', '2', '3']) await harness.raise({ subject })
  await harness.route()
  await harness.query(
    `insert into ferry.deliveries (event, receiver, kind, account, subject, data, at)
     select event, 'chat', kind, account, subject, data, at from ferry.deliveries`,
  )
  const tried = `attempts = 9, http_status = 500, failure = 'it answered HTTP 500', retry_at = now() + interval '1 h'`
  await harness.query(`update ferry.deliveries set ${tried}`)
  await harness.query(
    `update ferry.deliveries set at = at - interval '25 h' where receiver = 'webhook' and subject = '1'`,
  )
  await harness.query(
    `update ferry.deliveries set delivered_at = now(), failure = null where receiver = 'webhook' and subject = '2'`,
  )
  const rows = () =>
    harness.query<{ subject: string; receiver: string }>(
      'select * from ferry.deliveries order by event, receiver',
    )
  const before = await rows()
  const events = before.filter(({ receiver }) => receiver === 'webhook') as unknown as { event: string }[]
  const again = (nth: number) =>
    sendAgain(pool, { event: BigInt(events[nth]!.event), account: 'default', receiver: 'webhook' }, ADA)
  expect([await again(0), await again(1), await again(2)]).toEqual([true, true, false])
  expect(await again(0)).toBe(false)

  const asNew = { attempts: 0, retry_at: null, delivered_at: null, http_status: null, failure: null }
  expect(await rows()).toEqual(
    before.map(row =>
      row.receiver === 'webhook' && row.subject !== '3' ? { ...row, ...asNew, at: expect.any(Date) } : row,
    ),
  )
  const late = `select from ferry.deliveries where receiver = 'webhook' and at < now() - interval '1 h'`
  expect(await harness.query(late)).toEqual([])
  expect(
    await harness.query(
      'select account, actor, action, subject_kind, subject_id, because, rows from ferry.audit order by id',
    ),
  ).toEqual(
    events.slice(0, 2).map(({ event }) => ({
      account: 'default',
      actor: ADA.actor,
      action: 'send',
      subject_kind: 'event',
      subject_id: `${event}`,
      because: ADA.because,
      rows: null,
    })),
  )
})
