import { expect, test } from 'vitest'
import {
  countUndelivered,
  type ListedFilter,
  listEvents,
  undeliveredInWords,
} from '#src/notify/list-events.ts'
import { openNotifyHarness } from './notify-harness.ts'

test('messages are counted as waiting, behind or dead, for each receiver that is asked about', async () => {
  await using harness = await openNotifyHarness()
  const { pool } = harness.ferry
  const raised = async (account: string, set: string) => {
    for (const kind of ['import.paused', 'import.undecided'] as const) await harness.raise({ kind, account })
    await harness.route()
    await harness.query(`update ferry.deliveries set ${set} where account = $1`, [account])
  }
  await raised('behind', 'attempts = 0')
  await raised('waiting', 'attempts = 1')
  await raised('dead', `attempts = 1, at = at - interval '25 h'`)
  await raised('never tried', `at = at - interval '25 h'`)
  await raised('forgotten', `attempts = 1, at = at - interval '8 days'`)
  await raised('delivered', 'attempts = 2, delivered_at = clock_timestamp()')
  await raised('of the next digest', `at = at + interval '5 h'`)
  const ofWebhook = { receiver: 'webhook', waiting: 2, behind: 2, dead: 4 }
  expect(await countUndelivered(pool, ['webhook', 'another'])).toEqual([ofWebhook])
  expect(await countUndelivered(pool, ['another'])).toEqual([])
  expect(undeliveredInWords([ofWebhook, { ...ofWebhook, receiver: 'chat', dead: 1, waiting: 0 }])).toBe(
    '4 messages to webhook were not accepted within a day; 2 messages to webhook wait to be sent again, and 2 more behind; 1 message to chat was not accepted within a day',
  )
})

test('events are narrowed by each filter, the newest first', async () => {
  await using harness = await openNotifyHarness()
  const { pool } = harness.ferry
  for (const account of ['one', 'other']) {
    for (const kind of ['import.paused', 'import.undecided'] as const) await harness.raise({ kind, account })
  }
  await harness.query(
    `update ferry.events set at = '2026-01-01T00:00:00Z'::timestamptz + id * interval '1 hour'`,
  )
  const [{ least = 0n } = {}] = await harness.query<{ least: bigint }>(
    'select min(id)::int8 as least from ferry.events',
  )
  const nth = (hours: bigint) => new Date(Date.UTC(2026, 0, 1) + Number(BigInt(least) + hours) * 3_600_000)
  const found = async (filter: ListedFilter) =>
    (await listEvents(pool, 9, filter)).map(({ event }) => Number(BigInt(event) - BigInt(least)))
  expect(await found({})).toEqual([3, 2, 1, 0])
  expect(await found({ account: 'one' })).toEqual([1, 0])
  expect(await found({ kind: 'import.paused' })).toEqual([2, 0])
  expect(await found({ account: 'other', kind: 'import.paused' })).toEqual([2])
  expect(await found({ since: nth(1n), until: nth(3n) })).toEqual([2, 1])
  expect(await found({ before: BigInt(least) + 2n })).toEqual([1, 0])
  expect(await found({ event: BigInt(least) + 2n })).toEqual([2])
})

test('of an event that several receivers are told of, the worst of its messages is shown', async () => {
  await using harness = await openNotifyHarness()
  const states = {
    delivered: 'delivered_at = clock_timestamp()',
    waiting: 'attempts = 1',
    dead: `at = at - interval '25 h'`,
  }
  const pairs = [
    ['delivered', 'waiting'],
    ['waiting', 'dead'],
    ['dead', 'delivered'],
  ] as const
  for (const [first, second] of pairs) {
    const account = `${first} and ${second}`
    await harness.raise({ account })
    await harness.route()
    await harness.query(
      `insert into ferry.deliveries (event, receiver, kind, account, subject, data, at)
       select event, 'another', kind, account, subject, data, at from ferry.deliveries where account = $1`,
      [account],
    )
    for (const [receiver, state] of [
      ['webhook', first],
      ['another', second],
    ] as const) {
      const set = `update ferry.deliveries set ${states[state]} where account = $1 and receiver = $2`
      await harness.query(set, [account, receiver])
    }
  }
  const shown = (await listEvents(harness.ferry.pool, 9, {})).map(one => [one.account, one.delivery])
  expect(Object.fromEntries(shown)).toEqual({
    'delivered and waiting': 'waiting',
    'waiting and dead': 'dead',
    'dead and delivered': 'dead',
  })
})
