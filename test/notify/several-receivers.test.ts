import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { summarizeRules } from '#src/inventory/history/rule-events.ts'
import { routeEvents } from '#src/notify/route.ts'
import { fileHolding } from '#test/support/settings.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { type NotifyHarness, openNotifyHarness } from './notify-harness.ts'
import { openReceiver, type Receiver, status } from './receiver.ts'

const settings = (...receivers: object[]) => ({
  FERRY_WEBHOOK_URL: '',
  FERRY_WEBHOOK_SECRET: '',
  FERRY_RECEIVERS_FILE: fileHolding(JSON.stringify({ receivers })),
})

/** As if a worker had had them in its settings from the beginning. */
async function know(harness: NotifyHarness, ...names: string[]): Promise<void> {
  await harness.query('insert into ferry.receivers select name, 0 from unnest($1::text[]) name', [names])
}

const bodies = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body))
const imports = (receiver: Receiver) => bodies(receiver).map(({ data }) => data.import)

test('of three receivers one is dead, one hangs and one has a filter: none delays another, and each gets its own in order', async () => {
  await using harness = await openNotifyHarness()
  await using dead = await openReceiver()
  await using slow = await openReceiver()
  await using well = await openReceiver()
  await know(harness, 'dead', 'slow', 'well')
  const notifier = harness.openNotifier(
    settings(
      { name: 'dead', url: dead.url },
      { name: 'slow', url: slow.url },
      { name: 'well', url: well.url, filter: { accounts: ['prod'] } },
    ),
  )
  dead.answer = status(500)
  slow.answer = () => {}
  for (const subject of ['1', '2']) {
    await harness.raise({ account: 'prod', subject }, { import: subject })
    await harness.raise({ account: 'test', subject }, { import: `test ${subject}` })
  }
  await waitFor(
    async () => {
      await notifier.look()
      return imports(well).length > 1 && imports(slow).length > 0 && imports(dead).length > 0
    },
    { what: 'messages' },
  )
  expect(imports(well)).toEqual(['1', '2'])
  await harness.raise({ account: 'prod', subject: '3' }, { import: '3' })
  await waitFor(
    async () => {
      await notifier.look()
      return imports(well).length > 2
    },
    { what: 'the next message' },
  )
  expect(imports(well)).toEqual(['1', '2', '3'])
  expect(imports(dead)).toEqual(['1'])
  expect(imports(slow)).toEqual(['1'])
  const states = await harness.query(
    `select receiver, count(*)::int as messages, count(delivered_at)::int as delivered from ferry.deliveries
     group by receiver order by receiver`,
  )
  expect(states).toEqual([
    { receiver: 'dead', messages: 5, delivered: 0 },
    { receiver: 'slow', messages: 5, delivered: 0 },
    { receiver: 'well', messages: 3, delivered: 3 },
  ])
  // One is well again: it gets what it missed, in order.
  dead.answer = status(200)
  await harness.endWaiting()
  await waitFor(
    async () => {
      await notifier.look()
      return imports(dead).length > 5
    },
    { what: 'what it missed' },
  )
  expect(imports(dead)).toEqual(['1', '1', 'test 1', '2', 'test 2', '3'])
})

test('a receiver that is added later gets nothing that happened before, nor that it is over', async () => {
  await using harness = await openNotifyHarness()
  await using first = await openReceiver()
  await using second = await openReceiver()
  await know(harness, 'first')
  await harness.raise({ subject: 'old' })
  await using alone = harness.openNotifier(settings({ name: 'first', url: first.url }))
  await harness.raise({ subject: 'older' })
  const both = settings({ name: 'first', url: first.url }, { name: 'second', url: second.url })
  await alone[Symbol.asyncDispose]()
  const notifier = harness.openNotifier(both)
  await notifier.look()
  await harness.resolve({ subject: 'old' })
  await harness.raise({ subject: 'new' }, { import: 'new' })
  await notifier.look()
  expect(bodies(first).map(({ data }) => data.state)).toEqual(['raised', 'raised', 'resolved', 'raised'])
  expect(imports(second)).toEqual(['new'])
})

test('of what begins again, those are told that it is over who were told of that beginning, not of an earlier one', async () => {
  await using harness = await openNotifyHarness()
  await using first = await openReceiver()
  await using second = await openReceiver()
  await know(harness, 'first')
  const alone = settings({ name: 'first', url: first.url })
  const both = settings({ name: 'first', url: first.url }, { name: 'second', url: second.url })
  const happens = async (act: 'raise' | 'resolve', env: Record<string, string>) => {
    await harness[act]({ subject: 'again' })
    await using notifier = harness.openNotifier(env)
    await notifier.look()
  }
  const heard = () => [first, second].map(receiver => bodies(receiver).map(({ data }) => data.state))
  await happens('raise', alone)
  await happens('resolve', both)
  expect(heard()).toEqual([['raised', 'resolved'], []])
  await happens('raise', both)
  await happens('resolve', both)
  expect(heard()).toEqual([
    ['raised', 'resolved', 'raised', 'resolved'],
    ['raised', 'resolved'],
  ])
  await happens('raise', alone)
  await happens('resolve', both)
  expect(heard()).toEqual([
    ['raised', 'resolved', 'raised', 'resolved', 'raised', 'resolved'],
    ['raised', 'resolved'],
  ])
})

test('a digest is one message with what would have been sent one by one, at its time in the time zone', async () => {
  await using harness = await openNotifyHarness()
  await using receiver = await openReceiver()
  await know(harness, 'daily')
  const env = {
    ...settings({ name: 'daily', url: receiver.url, digest: 'daily at 08:00' }),
    FERRY_TIMEZONE: 'Asia/Tokyo',
    FERRY_PUBLIC_URL: 'https://ferry.example.com/',
  }
  const notifier = harness.openNotifier(env)
  for (const subject of ['1', '2', '3']) await harness.raise({ subject }, { import: subject })
  await notifier.look()
  expect(receiver.received).toEqual([])
  const [due] = await harness.query<{ clock: string; soon: boolean; times: number }>(
    `select to_char(min(at) at time zone 'Asia/Tokyo', 'HH24:MI:SS') as clock, count(distinct at)::int as times,
       min(at) > now() and min(at) <= now() + interval '1 day' as soon from ferry.deliveries`,
  )
  expect(due).toEqual({ clock: '08:00:00', soon: true, times: 1 })
  await harness.query(`update ferry.deliveries set at = at - interval '1 day'`)
  receiver.answer = status(500)
  await notifier.look()
  // What happens meanwhile belongs to the next one.
  await harness.raise({ subject: '4' }, { import: '4' })
  receiver.answer = status(200)
  await harness.endWaiting()
  await notifier.look()
  await notifier.look()
  const [failed, sent, ...more] = receiver.received
  expect(more).toEqual([])
  expect([failed?.body, failed?.headers['webhook-id']]).toEqual([sent?.body, sent?.headers['webhook-id']])
  const { type, data } = bodies(receiver)[1]
  expect(type).toBe('digest')
  expect(data.messages.map((one: { data: { import: string } }) => one.data.import)).toEqual(['1', '2', '3'])
  expect(data.messages[0]).toMatchObject({
    type: 'import.paused',
    data: { link: 'https://ferry.example.com/imports/1' },
  })
  expect(data.summary).toMatch(/3 messages\.\n- Account default: Import 1 is paused/)
})

test('messages of a digest that were refused before stay in the order of all', async () => {
  await using harness = await openNotifyHarness()
  await using receiver = await openReceiver()
  await know(harness, 'daily')
  const notifier = harness.openNotifier(
    settings({ name: 'daily', url: receiver.url, digest: 'daily at 08:00' }),
  )
  for (const subject of ['1', '2', '3']) await harness.raise({ subject }, { import: subject })
  await notifier.look()
  await harness.query(
    `update ferry.deliveries set at = at - interval '1 day',
       http_status = case when subject = '1' then 400 end, retry_at = case when subject = '1' then now() - interval '1 s' end`,
  )
  await notifier.look()
  const [{ data }] = bodies(receiver)
  expect(data.messages.map((one: { data: { import: string } }) => one.data.import)).toEqual(['1', '2', '3'])
})

test('what two workers route at once is routed once', async () => {
  await using harness = await openNotifyHarness()
  const { receivers } = readConfig({ FERRY_WEBHOOK_URL: harness.receiver.url }).notify
  for (let n = 1; n <= 250; n++) await harness.raise({ subject: `${n}` })
  const route = () => routeEvents({ pool: harness.ferry.pool, receivers, timezone: 'UTC', summarizeRules })
  expect(await Promise.all([route(), route()])).toContain(true)
  await waitFor(async () => !(await route()), { what: 'all to be routed' })
  const rows = 'select count(*)::int as n, count(distinct event)::int as events from ferry.deliveries'
  expect(await harness.query(rows)).toEqual([{ n: 250, events: 250 }])
  expect(await harness.query('select from ferry.events where routed_at is null')).toEqual([])
})
