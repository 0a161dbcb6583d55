import { expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { summarizeRules } from '#src/inventory/history/rule-events.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import type { EventFilter } from '#src/model/event.ts'
import { accountsFile } from '#test/cli/open-cli.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'

const EVERYTHING: EventFilter = {
  accounts: null,
  folders: null,
  teams: null,
  labels: null,
  fields: null,
  people: null,
}

const NONE = { rules: 0, servers: 0 }

/** Ten rules that are on, in two folders, with a label for even and odd; the first reading of them. */
async function setup(options = {}) {
  const harness = await openFerryHarness({ ...NONE, ...options })
  const { state } = harness.sandbox
  const ids = Array.from({ length: 10 }, (_, n) => {
    const labels = { team: n % 2 === 0 ? 'even' : 'odd', env: 'prod' }
    const rule = {
      enabled: true,
      folder_id: n < 5 ? 1n : 2n,
      labels,
      name: `rule ${n}`,
      updater_id: 7n,
      updater_name: 'Ada',
    }
    return state.addRule(rule).id
  })
  await harness.sync()
  const edit = (n: number, patch: object, by = { updater_id: 8n, updater_name: 'Eve' }) =>
    state.changeRule(ids[n]!, { ...by, ...patch })
  return Object.assign(harness, { ids, edit, state })
}

async function events(harness: FerryHarness) {
  const rows = await harness.query<{ kind: string; data: { rules: number; ruleIds: string[] } }>(
    `select kind, data from ferry.events where kind like 'rule.%' order by id`,
  )
  return Object.fromEntries(rows.map(({ kind, data }) => [kind, data]))
}

const summary = (harness: FerryHarness, run: bigint, filter: Partial<EventFilter> = {}) =>
  inTransaction(harness.ferry.pool, client =>
    summarizeRules(client, { account: 'default', run: `${run}` }, { ...EVERYTHING, ...filter }),
  )

const kinds = async (found: ReturnType<typeof summary>) =>
  Object.fromEntries((await found).map(({ kind, rules }) => [kind, rules]))

test('a run raises one event for each kind, with the ids; the first reading raises none, and neither does a run that changes nothing', async () => {
  await using harness = await setup()
  expect(await events(harness)).toEqual({})
  await harness.sync()
  const { ids, edit, state } = harness
  edit(0, { enabled: false, name: 'renamed too' })
  edit(1, { enabled: false })
  edit(2, { cron_pattern: '1 1 * * *' })
  edit(3, { updated_at: 5n })
  state.removeRule(ids[4]!)
  const now = BigInt(Math.floor(Date.now() / 1_000))
  const added = state.addRule({ created_at: now, updated_at: now }).id
  const { run } = await harness.sync()
  const of = (...of: bigint[]) => ({
    inventory: 'alert-rules',
    run: `${run}`,
    rules: of.length,
    ruleIds: of.map(String),
  })
  expect(await events(harness)).toEqual({
    'rule.disabled': of(ids[0]!, ids[1]!),
    'rule.changed': of(ids[2]!, ids[3]!),
    'rule.removed': of(ids[4]!),
    'rule.added': of(added),
  })
  const [changed] = (await summary(harness, run)).filter(({ kind }) => kind === 'rule.changed')
  expect(changed).toMatchObject({
    people: 1,
    peopleIds: ['8'],
    peopleNames: ['Eve'],
    fields: ['cron_pattern'],
    outsideBasicView: 1,
    names: ['rule 2', 'rule 3'],
  })
  // What is off already is not disabled once more, nor is what is enabled again.
  edit(0, { cron_pattern: '2 2 * * *' })
  edit(1, { enabled: true })
  const { run: next } = await harness.sync()
  expect(await kinds(summary(harness, next))).toEqual({ 'rule.changed': 2 })
  expect(await events(harness)).toMatchObject({
    'rule.disabled': { run: `${run}` },
    'rule.changed': { run: `${next}`, ruleIds: [`${ids[0]}`, `${ids[1]}`] },
  })
})

test('a filter counts exactly those rules that it chooses, before or after the change', async () => {
  await using harness = await setup()
  const { ids, edit, state } = harness
  for (const n of [0, 1, 5]) edit(n, { enabled: false })
  edit(2, { cron_pattern: '1 1 * * *' }, { updater_id: 9n, updater_name: 'Bob' })
  edit(3, { delay_seconds: 99n })
  edit(6, { folder_id: 1n })
  for (const n of [4, 9]) state.removeRule(ids[n]!)
  const { run } = await harness.sync()
  const chosen = (filter: Partial<EventFilter>) => kinds(summary(harness, run, filter))
  expect(await chosen({})).toEqual({ 'rule.disabled': 3, 'rule.changed': 3, 'rule.removed': 2 })
  expect(await chosen({ folders: ['1'] })).toEqual({
    'rule.disabled': 2,
    'rule.changed': 3,
    'rule.removed': 1,
  })
  // Rule 6 left it.
  expect(await chosen({ folders: ['2'] })).toEqual({
    'rule.disabled': 1,
    'rule.changed': 1,
    'rule.removed': 1,
  })
  expect(await chosen({ teams: ['odd'] })).toEqual({
    'rule.disabled': 2,
    'rule.changed': 1,
    'rule.removed': 1,
  })
  expect(await chosen({ labels: { team: ['even', 'x'], env: ['prod'] }, folders: ['2'] })).toEqual({
    'rule.changed': 1,
  })
  expect(await chosen({ labels: { env: ['test'] } })).toEqual({})
  expect(await chosen({ fields: ['cron_pattern'] })).toEqual({
    'rule.disabled': 3,
    'rule.changed': 1,
    'rule.removed': 2,
  })
  expect(await chosen({ people: ['Bob'] })).toEqual({ 'rule.changed': 1 })
  expect(await chosen({ people: ['8'] })).toEqual({ 'rule.disabled': 3, 'rule.changed': 2 })
})

test('what a run read for the first time is not told with what it found changed', async () => {
  await using harness = await setup()
  const { edit, state } = harness
  // Only folder 1 was read by this key so far.
  await harness.query('truncate ferry.sync_runs, ferry.alert_rule_versions, ferry.events cascade')
  await harness.sync({ folders: [1n] })
  edit(0, { enabled: false })
  state.addRule({ enabled: true, folder_id: 2n })
  const { run } = await harness.sync({ folders: [1n, 2n] })
  expect(await kinds(summary(harness, run))).toEqual({ 'rule.disabled': 1 })
  expect(await events(harness)).toMatchObject({ 'rule.disabled': { rules: 1 } })
  expect(Object.keys(await events(harness))).toEqual(['rule.disabled'])
})

test('of two accounts with the same rules, each run counts its own', async () => {
  await using harness = await setup()
  const { edit, ids, sandbox } = harness
  const other = await harness.openFerry({
    FERRY_BASE_URL: '',
    FERRY_APP_KEY: '',
    FERRY_ACCOUNTS_FILE: accountsFile({ name: 'other', baseUrl: sandbox.baseUrl, appKeyEnv: 'KEY' }),
    KEY: sandbox.appKey,
  })
  const syncOther = () =>
    syncInventory(
      other,
      { account: 'other', resource: 'alert-rules', trigger: 'manual' },
      new AbortController().signal,
    )
  await syncOther()
  edit(0, { enabled: false })
  const { run } = await harness.sync()
  edit(1, { enabled: false })
  const { run: ofOther } = await syncOther()
  expect(await kinds(summary(harness, run))).toEqual({ 'rule.disabled': 1 })
  // Account default has no such run.
  expect(await kinds(summary(harness, ofOther))).toEqual({})
  const rows = await harness.query('select account, data from ferry.events order by id')
  expect(rows).toMatchObject([
    { account: 'default', data: { rules: 1, ruleIds: [`${ids[0]}`] } },
    { account: 'other', data: { rules: 2 } },
  ])
})

test('a run that changes more rules than are kept in memory is one event of each kind, with the first twenty ids', async () => {
  await using harness = await setup()
  const { state } = harness
  const now = BigInt(Math.floor(Date.now() / 1_000))
  const ids = Array.from({ length: 5_000 }, () => state.addRule({ enabled: true, created_at: now }).id)
  await harness.sync()
  for (const id of ids) state.changeRule(id, { enabled: false, updater_id: 8n })
  await harness.sync()
  const found = await events(harness)
  expect(Object.keys(found)).toEqual(['rule.added', 'rule.disabled'])
  expect(found['rule.disabled']).toMatchObject({ rules: 5_000 })
  expect(found['rule.disabled']?.ruleIds).toEqual(
    ids
      .toSorted((a, b) => Number(a - b))
      .slice(0, 20)
      .map(String),
  )
})
