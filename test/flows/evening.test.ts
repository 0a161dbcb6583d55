import { expect, test } from 'vitest'
import { kindInWords, loadAround } from '#src/reports/around.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { runFerryHere } from '#test/cli/run-ferry.ts'
import { openNotifyHarness } from '#test/notify/notify-harness.ts'
import { openReceiver, type Receiver, SECRET, status } from '#test/notify/receiver.ts'
import { fillEvening } from '#test/support/evening.ts'
import { fileHolding } from '#test/support/settings.ts'

/* The evening of docs/evening.md, as three receivers were told of it, and as it is shown afterwards. */

/** The evening, with a look at what is to be sent after each poll. */
async function playEvening() {
  await using opened = new AsyncDisposableStack()
  const harness = opened.use(await openNotifyHarness())
  const [onCall, payments, managers] = [
    opened.use(await openReceiver()),
    opened.use(await openReceiver()),
    opened.use(await openReceiver()),
  ]
  await harness.query(
    `insert into ferry.receivers select name, 0 from unnest('{on-call,payments,managers}'::text[]) name`,
  )
  const critical = { filter: { labels: { severity: 'critical' } } }
  const chat = { format: 'slack', filter: { teams: ['payments'] }, details: true }
  // Far from now: the time of a message is moved with all others while the evening is played.
  const digest = `daily at ${(new Date().getUTCHours() + 12) % 24}:00`
  const receivers = [
    { name: 'on-call', url: onCall.url, secretEnv: 'SIGNS', events: ['all', 'rule.disabled'], ...critical },
    { name: 'payments', url: payments.url, events: ['rule.*'], ...chat },
    { name: 'managers', url: managers.url, events: ['all', 'rule.*'], digest },
  ]
  const settings = {
    FERRY_WEBHOOK_URL: '',
    FERRY_WEBHOOK_SECRET: '',
    SIGNS: SECRET,
    FERRY_RECEIVERS_FILE: fileHolding(JSON.stringify({ receivers })),
  }
  const look = async () => {
    await using notifier = harness.openNotifier(settings)
    await notifier.look()
  }
  const { baseUrl, appKey } = harness.sandbox
  const env = { DATABASE_URL: harness.databaseUrl, FERRY_BASE_URL: baseUrl, FERRY_APP_KEY: appKey }
  const people = fileHolding('recipient,locale\nada@example.com,en-US\ngrace@example.com,en-US\n')
  const importing = ['import', people, '--page', `${SANDBOX_PAGE_ID}`, '--all', '--yes', '--wait']
  const minutesAgo = await fillEvening({
    ...harness,
    afterPoll: look,
    async whileRefused() {
      onCall.answer = status(500)
      expect(await runFerryHere(importing, env)).toMatchObject({ code: 4 })
    },
    async afterwards() {
      expect(await runFerryHere(['imports', 'resume', '1', '--wait'], env)).toMatchObject({ code: 0 })
      onCall.answer = status(200)
    },
  })
  // The next morning. Until then its time was moved with all other times, by another span for each.
  await harness.query(`update ferry.deliveries set at = now() - interval '1 min' where receiver = 'managers'`)
  await look()
  const kept = opened.move()
  return {
    ...harness,
    onCall,
    payments,
    managers,
    minutesAgo,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const bodies = ({ received }: Receiver) => received.map(({ body }) => JSON.parse(body))

/** Its messages in their order, each once however often it was sent. */
const told = (receiver: Receiver) => [
  ...new Set(receiver.messages().map(({ type, data }) => `${type} ${data.state}: ${data.summary}`)),
]

test('an evening is told to three receivers, each its part in order; one that is dead meanwhile delays no other, and misses nothing', async () => {
  await using evening = await playEvening()
  const { onCall, payments, managers } = evening

  expect(told(onCall)).toEqual([
    'rule.disabled raised: Account default: 1 alert rule was switched off by one person (id 8): 9001. `ferry rules show 9001` shows its history.',
    expect.stringMatching(
      /^inventory\.late raised: Account default: alert-rules in Postgres are late: key refused \(401\): set FERRY_APP_KEY\./,
    ),
    expect.stringMatching(/^import\.paused raised: Account default: Import 1 is paused \(Unauthorized\)\./),
    'inventory.late resolved: Account default: The alert-rules in Postgres are no longer late.',
    'import.paused resolved: Account default: Import 1 is no longer paused.',
    expect.stringMatching(/^import\.completed raised: Account default: Import 1 is completed\./),
  ])
  // What it did not accept was sent again and again, and what came after it waited.
  const kinds = bodies(onCall).map(({ type, data }) => `${type} ${data.state}`)
  expect(kinds.filter(kind => kind === 'import.paused raised').length).toBeGreaterThan(2)
  expect(kinds.lastIndexOf('import.paused raised')).toBeLessThan(kinds.indexOf('inventory.late resolved'))
  expect(JSON.stringify(bodies(onCall))).not.toMatch(/Checkout|Eve|ada@/)

  expect(bodies(payments).map(({ text }) => text)).toEqual([
    'Account default: 1 alert rule was changed (delay_seconds) by Ada: Checkout p99 latency. `ferry rules show 9001` shows its history.',
    'Account default: 1 alert rule was switched off by Eve: Checkout p99 latency. `ferry rules show 9001` shows its history.',
    'Account default: 1 alert rule was removed: Refunds wait. `ferry rules show 9002` shows its history.',
    'Account default: 1 alert rule was changed (enabled) by Ada: Checkout p99 latency. `ferry rules show 9001` shows its history.',
  ])
  // The last of these came while the message to on-call was still refused.
  const sentAt = `select receiver, max(delivered_at) as at from ferry.deliveries where kind like $1 group by receiver`
  const [{ at: chatAt }] = (await evening.query<{ at: Date }>(`${sentAt} having receiver = 'payments'`, [
    'rule.%',
  ])) as [{ at: Date }]
  const [{ at: deadUntil }] = (await evening.query<{ at: Date }>(`${sentAt} having receiver = 'on-call'`, [
    'import.paused',
  ])) as [{ at: Date }]
  expect(chatAt.getTime()).toBeLessThan(deadUntil.getTime())

  expect(bodies(managers)).toHaveLength(1)
  const [{ type, data }] = bodies(managers)
  expect(type).toBe('digest')
  expect(
    data.messages.map((one: { type: string; data: { state: string } }) => `${one.type} ${one.data.state}`),
  ).toEqual([
    'rule.changed raised',
    'rule.disabled raised',
    'rule.changed raised',
    'rule.removed raised',
    'inventory.late raised',
    'import.paused raised',
    'rule.changed raised',
    'inventory.late resolved',
    'import.paused resolved',
    'import.completed raised',
  ])
  expect(data.summary).toContain('4 alert rules were changed (delay_seconds) by one person (id 9)')

  // The worst minute, as it is shown afterwards.
  const at = new Date(Date.now() - evening.minutesAgo * 60_000)
  const { rows, firing } = await loadAround(
    evening.ferry.pool,
    { at, spanMs: 3_600_000, words: 'checkout' },
    100,
  )
  expect(rows.map(row => [kindInWords(row), row.name, row.who].filter(Boolean).join(' '))).toEqual([
    'nothing was read',
    'nothing was read',
    'read for the first time',
    'edited Checkout p99 latency Ada',
    'began to fire Checkout p99 latency',
    'switched off while firing Checkout p99 latency Eve',
    'nothing was read',
    'switched on while firing Checkout p99 latency Ada',
    'stopped firing Checkout p99 latency',
  ])
  expect(firing).toMatchObject([{ name: 'Checkout p99 latency', enabled: false, known: true }])
})
