import { expect, test } from 'vitest'
import { fileHolding } from '#test/support/settings.ts'
import { openNotifyHarness } from './notify-harness.ts'

const ADA = { updater_id: 7n, updater_name: 'Ada' }
const EVE = { updater_id: 8n, updater_name: 'Eve <!channel> & co\n2' }

/** Rules that are on, and a notifier of one receiver with these settings. */
async function setup(receiver: object) {
  const harness = await openNotifyHarness()
  const { state } = harness.sandbox
  const ids = [1, 2, 3, 4, 5].map(n => state.addRule({ enabled: true, name: `rule ${n}`, ...ADA }).id)
  await harness.sync()
  await harness.query(`insert into ferry.receivers (name, after_event) values ('rules', 0)`)
  const one = { name: 'rules', url: harness.receiver.url, events: ['rule.*'], ...receiver }
  const notifier = harness.openNotifier({
    FERRY_WEBHOOK_URL: '',
    FERRY_WEBHOOK_SECRET: '',
    FERRY_PUBLIC_URL: 'https://ferry.example.com',
    FERRY_RECEIVERS_FILE: fileHolding(JSON.stringify({ receivers: [one] })),
  })
  const bodies = () => harness.receiver.received.map(({ body }) => JSON.parse(body))
  return Object.assign(harness, { ids, state, notifier, bodies })
}

test('without details a message has ids, counts and a link, and no word of the platform', async () => {
  await using harness = await setup({})
  const { ids, state, notifier, bodies } = harness
  for (const id of ids.slice(0, 4)) state.changeRule(id, { enabled: false, ...EVE })
  const { run } = await harness.sync()
  await notifier.look()
  expect(bodies()).toMatchObject([
    {
      type: 'rule.disabled',
      data: {
        account: 'default',
        run: `${run}`,
        rules: 4,
        ruleIds: ids.slice(0, 4).map(String),
        people: 1,
        peopleIds: ['8'],
        link: `https://ferry.example.com/ledger/runs/${run}`,
        summary: `Account default: 4 alert rules were switched off by one person (id 8): ${ids.slice(0, 3).join(', ')} and 1 more. \`ferry changes --since 1d\` shows them; run ${run} observed it.`,
      },
    },
  ])
  expect(JSON.stringify(bodies())).not.toMatch(/Eve|rule 1/)
})

test('of rules that nobody is known to have added, a message names nobody', async () => {
  await using harness = await setup({})
  const { state, notifier, bodies } = harness
  const now = BigInt(Math.floor(Date.now() / 1_000))
  for (const created_at of [now - 864_000n, now - 864_000n, now]) state.addRule({ created_at, ...EVE })
  await harness.sync()
  await notifier.look()
  const [message] = bodies()
  expect(message.data).toMatchObject({ rules: 3, people: 1, byPeople: 1 })
  expect(message.data.summary).toContain(': 3 alert rules were added, 1 of them by one person (id 8): ')
})

test('with details it has names of rules and people, which a chat shows as text in one line', async () => {
  await using harness = await setup({ details: true, format: 'slack' })
  const { ids, state, notifier, bodies } = harness
  state.changeRule(ids[0]!, { enabled: false, ...EVE })
  await harness.sync()
  await notifier.look()
  expect(bodies()).toEqual([
    {
      text: `Account default: 1 alert rule was switched off by Eve &lt;!channel&gt; &amp; co 2: rule 1. \`ferry rules show ${ids[0]}\` shows its history. https://ferry.example.com/rules/default/${ids[0]}`,
    },
  ])
})

test('what one person did in one run is one message; what several did is one for each kind', async () => {
  await using harness = await setup({ details: true })
  const { ids, state, notifier, bodies } = harness
  state.changeRule(ids[0]!, { enabled: false, ...EVE })
  state.changeRule(ids[1]!, { delay_seconds: 99n, ...EVE })
  state.changeRule(ids[2]!, { updated_at: 99n, ...EVE })
  await harness.sync()
  await notifier.look()
  expect(bodies()).toMatchObject([
    { type: 'rule.disabled', data: { rules: 1, alsoChanged: 2, alsoAdded: 0 } },
  ])
  expect(bodies()[0].data.summary).toContain('The same person changed 2 besides.')
  state.changeRule(ids[1]!, { enabled: false, ...EVE })
  state.changeRule(ids[2]!, { updated_at: 100n, ...ADA })
  state.removeRule(ids[3]!)
  await harness.sync()
  await notifier.look()
  const told = bodies().slice(1)
  expect(told.map(({ type }) => type).toSorted()).toEqual(['rule.changed', 'rule.disabled', 'rule.removed'])
  const changed = told.find(({ type }) => type === 'rule.changed')
  expect(changed.data.summary).toContain('1 alert rule was edited outside the basic view by Ada: rule 3.')
})

test('that the same person added rules besides is told with what he changed, and a removal stands alone', async () => {
  await using harness = await setup({ details: true })
  const { ids, state, notifier, bodies } = harness
  state.changeRule(ids[0]!, { delay_seconds: 99n, ...EVE })
  const created_at = BigInt(Math.floor(Date.now() / 1_000))
  const added = [1, 2].map(n => state.addRule({ name: `new ${n}`, created_at, ...EVE }).id)
  state.removeRule(ids[4]!)
  const { run } = await harness.sync()
  await notifier.look()
  const data = { state: 'raised', account: 'default', inventory: 'alert-rules', run: `${run}`, rules: 1 }
  const told = bodies().toSorted((a, b) => (a.type < b.type ? -1 : 1))
  expect(told).toEqual([
    {
      type: 'rule.changed',
      timestamp: expect.any(String),
      data: {
        ...data,
        ruleIds: [`${ids[0]}`],
        names: ['rule 1'],
        people: 1,
        peopleIds: ['8'],
        by: [EVE.updater_name],
        fields: ['delay_seconds'],
        outsideBasicView: 0,
        alsoChanged: 0,
        alsoAdded: 2,
        summary: expect.stringContaining('The same person added 2 besides.'),
        link: `https://ferry.example.com/rules/default/${ids[0]}`,
      },
    },
    {
      type: 'rule.removed',
      timestamp: expect.any(String),
      data: {
        ...data,
        ruleIds: [`${ids[4]}`],
        names: ['rule 5'],
        summary: expect.any(String),
        link: `https://ferry.example.com/rules/default/${ids[4]}`,
      },
    },
  ])
  expect(added).toHaveLength(2)
})

test('a receiver is told of those rules alone that its filter chooses, and of none if it chooses none', async () => {
  await using harness = await setup({ filter: { people: ['Ada'] }, details: true })
  const { ids, state, notifier, bodies } = harness
  for (const id of ids.slice(0, 3)) state.changeRule(id, { enabled: false, ...EVE })
  await harness.sync()
  await notifier.look()
  expect(bodies()).toEqual([])
  state.changeRule(ids[3]!, { enabled: false, ...ADA })
  state.changeRule(ids[4]!, { enabled: false, ...EVE })
  await harness.sync()
  await notifier.look()
  expect(bodies()).toMatchObject([{ data: { rules: 1, names: ['rule 4'], by: ['Ada'] } }])
})
