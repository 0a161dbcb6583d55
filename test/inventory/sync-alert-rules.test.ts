import { expect, test } from 'vitest'
import { listRuns, loadRun } from '#src/inventory/runs/list-runs.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { rules, syncListed } from './scripted-account.ts'

const MAX = 2n ** 64n - 1n

test('a first sync carries every rule, ids of 2^64-1 and all, and says so in the ledger', async () => {
  await using harness = await openFerryHarness({ rules: 40, hugeIds: 2 })
  const result = await harness.sync()
  expect(result).toMatchObject({
    status: 'succeeded',
    seen: 40,
    added: 40,
    changed: 0,
    removed: 0,
    unchanged: 0,
  })
  const rules = await harness.query('select * from ferry.alert_rules order by id')
  const wanted = [...harness.sandbox.state.rules.rows()].sort((a, b) => (a.id < b.id ? -1 : 1))
  expect(rules.map(rule => rule.id)).toEqual(wanted.map(rule => `${rule.id}`))
  expect(rules.at(-1)).toMatchObject({
    id: `${MAX}`,
    account: 'default',
    name: wanted.at(-1)!.name,
    labels: wanted.at(-1)!.labels,
    triggered: wanted.at(-1)!.triggered,
    created_at: `${wanted.at(-1)!.created_at}`,
    opened_by_run: `${result.run}`,
    altered: null,
  })
  expect(await loadRun(harness.ferry.pool, result.run)).toMatchObject({
    run: { status: 'succeeded', seen: 40, added: 40, requests: 1, errorCode: null },
    calls: [{ httpStatus: 200, operation: 'list-alert-rules', requestId: expect.stringMatching(/./) }],
  })
})

test('the same content in another order of rows and keys is no new version', async () => {
  await using harness = await openFerryHarness()
  await harness.sync()
  harness.sandbox.state.reorder(7)
  expect(await harness.sync()).toMatchObject({
    status: 'succeeded',
    added: 0,
    changed: 0,
    removed: 0,
    unchanged: 40,
  })
  expect(await harness.query('select count(*)::int as n from ferry.alert_rule_versions')).toEqual([{ n: 40 }])
})

test('identical data is finished after hashing, and still noticed once it changes', async () => {
  await using harness = await openFerryHarness()
  await harness.sync()
  const [first] = await harness.query('select data_hashes from ferry.sync_runs')
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', seen: 40, unchanged: 40, requests: 1 })
  const [, second] = await harness.query('select data_hashes from ferry.sync_runs order by id')
  expect(second).toEqual(first)
  const [rule] = harness.sandbox.state.rules.rows()
  harness.sandbox.state.changeRule(rule!.id, { name: 'renamed' })
  expect(await harness.sync()).toMatchObject({ changed: 1, unchanged: 39 })
})

test('a change closes one version and opens the next at the same instant, with who changed it', async () => {
  await using harness = await openFerryHarness()
  await harness.sync()
  const [rule] = harness.sandbox.state.rules.rows()
  harness.sandbox.state.changeRule(rule!.id, { labels: { team: 'new' }, updater_name: 'Grace' })
  const { run } = await harness.sync()
  const versions = await harness.query(
    'select valid_from::text, valid_to::text, closed_by_run, opened_by_run from ferry.alert_rule_versions where id = $1 order by valid_from',
    [`${rule!.id}`],
  )
  expect(versions).toHaveLength(2)
  expect(versions[0]?.valid_to).toBe(versions[1]?.valid_from)
  expect(versions[1]).toMatchObject({ valid_to: null, opened_by_run: `${run}` })
  expect(versions[0]?.closed_by_run).toBe(`${run}`)
  const changes = await harness.query(
    `select after, updater_name from ferry.alert_rule_changes where change = 'changed'`,
  )
  expect(changes).toEqual([
    { after: { labels: { team: 'new' }, updater_name: 'Grace' }, updater_name: 'Grace' },
  ])
})

test('a rule that goes and comes back has two intervals that do not touch', async () => {
  await using harness = await openFerryHarness()
  await harness.sync()
  const [rule] = harness.sandbox.state.rules.rows()
  harness.sandbox.state.removeRule(rule!.id)
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', removed: 1, requests: 2 })
  harness.sandbox.state.addRule(rule!)
  expect(await harness.sync()).toMatchObject({ added: 1 })
  const intervals = await harness.query(
    'select valid_to, lead(valid_from) over (order by valid_from) > valid_to as apart from ferry.alert_rule_versions where id = $1 order by valid_from',
    [`${rule!.id}`],
  )
  expect(intervals).toMatchObject([{ apart: true }, { valid_to: null, apart: null }])
})

test('firing is an episode of its own: it makes no version, and ends with the alarm or with the rule', async () => {
  await using harness = await openFerryHarness()
  const [flapping, removed] = [...harness.sandbox.state.rules.rows()]
  for (const rule of harness.sandbox.state.rules.rows())
    harness.sandbox.state.changeRule(rule.id, { triggered: false })
  await harness.sync()
  harness.sandbox.state.changeRule(flapping!.id, { triggered: true })
  harness.sandbox.state.changeRule(removed!.id, { triggered: true })
  expect(await harness.sync()).toMatchObject({ changed: 0, unchanged: 40 })
  expect(await harness.query('select id from ferry.alert_rules where triggered')).toHaveLength(2)
  expect(await harness.query('select id from ferry.alert_rules_firing')).toHaveLength(2)

  harness.sandbox.state.changeRule(flapping!.id, { triggered: false })
  harness.sandbox.state.removeRule(removed!.id)
  await harness.sync()
  harness.sandbox.state.changeRule(flapping!.id, { triggered: true })
  await harness.sync()
  const episodes = await harness.query(
    'select id, ended is null as open, began_run < ended_run as later from ferry.alert_rule_firings order by began, id',
  )
  expect(episodes.filter(episode => episode.id === `${flapping!.id}`)).toMatchObject([
    { later: true },
    { open: true },
  ])
  expect(episodes.filter(episode => episode.id === `${removed!.id}`)).toMatchObject([{ open: false }])
  expect(await harness.query('select count(*)::int as n from ferry.alert_rule_versions')).toEqual([{ n: 40 }])
})

test('a run counts the rules that began to fire and those that recovered, and none that stayed as they were', async () => {
  await using harness = await openFerryHarness({ rules: 5 })
  const { state } = harness.sandbox
  const [one, other, quiet] = [...state.rules.rows()]
  for (const rule of state.rules.rows()) state.changeRule(rule.id, { triggered: false })
  await harness.sync()
  for (const rule of [one, other]) state.changeRule(rule!.id, { triggered: true })
  await harness.sync()
  state.changeRule(other!.id, { triggered: false })
  state.changeRule(quiet!.id, { name: 'renamed' })
  await harness.sync()
  const runs = await listRuns(harness.ferry.pool, 9)
  expect(runs.map(({ fired, recovered }) => ({ fired, recovered }))).toEqual([
    { fired: 0, recovered: 1 },
    { fired: 2, recovered: 0 },
    { fired: 0, recovered: 0 },
  ])
})

test('rules that are new among rules that are known are told apart', async () => {
  await using harness = await openFerryHarness({ rules: 0 })
  await syncListed(harness, [rules([1, 2])])
  const renamed = { name: 'renamed' }
  const listed = [...rules([1], renamed), ...rules([3]), ...rules([2], renamed), ...rules([4])]
  expect(await syncListed(harness, [listed])).toMatchObject({ added: 2, changed: 2 })
  expect(await harness.query('select id::int, name from ferry.alert_rules order by id')).toEqual([
    { id: 1, name: 'renamed' },
    { id: 2, name: 'renamed' },
    { id: 3, name: 'rule 3' },
    { id: 4, name: 'rule 4' },
  ])
})

test('hostile names, labels and keys are carried with visible characters in place of what Postgres cannot hold, and the row says which fields', async () => {
  await using harness = await openFerryHarness({ rules: 3 })
  const [rule] = [...harness.sandbox.state.rules.rows()]
  const wire = (id: number, labels: string, name: string) =>
    `{"id":${id},"account_id":${rule!.account_id},"folder_id":1,"name":${name},"labels":${labels},"ds_type":"prometheus",` +
    `"enabled":true,"debug_log_enabled":false,"cron_pattern":"* * * * *","delay_seconds":0,"creator_id":1,` +
    `"creator_name":"c","updater_id":1,"updater_name":"u","created_at":1,"updated_at":1,"triggered":false}`
  harness.sandbox.state.replaceRulesBody(
    `[${wire(1, '{"__proto__":"polluted","constructor":"c","a\\u0000b":"\\ud800"}', '"nul \\u0000 end"')},` +
      `${wire(2, '{"ok":"fine"}', '"plain"')}]`,
  )
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', added: 2, quarantined: 0 })
  const rows = await harness.query('select name, labels::text, altered from ferry.alert_rules order by id')
  expect(rows[0]?.name).toBe('nul ␀ end')
  expect(
    JSON.parse(rows[0]?.labels as string, (key, value) => (key === '__proto__' ? 'seen' : value)),
  ).toBeTruthy()
  expect(rows[0]?.labels).toContain('"__proto__": "polluted"')
  expect(rows[0]?.labels).toContain('a␀b')
  expect(rows[0]?.altered).toContain('name')
  expect(rows[1]).toMatchObject({ name: 'plain', altered: null })
  expect(await harness.sync()).toMatchObject({ changed: 0, unchanged: 2 })
})

test('rows that do not parse are set aside with the reason, count as there, and do not stop the others', async () => {
  await using harness = await openFerryHarness({ rules: 5 })
  harness.sandbox.breakContract()
  await harness.sync()
  const [broken, ...rest] = [...harness.sandbox.state.rules.rows()]
  harness.sandbox.state.changeRule(broken!.id, { enabled: 'yes' as never, app_secret: 's3cret' } as never)
  harness.sandbox.state.changeRule(rest[0]!.id, { name: 'changed' })
  const result = await harness.sync()
  expect(result).toMatchObject({
    status: 'succeeded',
    seen: 5,
    changed: 1,
    unchanged: 3,
    quarantined: 1,
    removed: 0,
  })
  const [row] = await harness.query(
    'select id, reason, raw::text from ferry.quarantined_rows where run_id = $1',
    [result.run],
  )
  expect(row).toMatchObject({ id: `${broken!.id}`, reason: expect.stringContaining('enabled') })
  expect(row?.raw).not.toContain('s3cret')
  expect(
    await harness.query('select 1 from ferry.alert_rules where id = $1', [`${broken!.id}`]),
  ).toHaveLength(1)
})

test('a row whose id cannot be read makes the run partial: it adds and changes, and removes nothing', async () => {
  await using harness = await openFerryHarness({ rules: 5 })
  harness.sandbox.breakContract()
  await harness.sync()
  const [unreadable, gone] = [...harness.sandbox.state.rules.rows()]
  harness.sandbox.state.removeRule(gone!.id)
  harness.sandbox.state.removeRule(unreadable!.id)
  harness.sandbox.state.addRule({ ...unreadable!, id: 'seven' as never })
  harness.sandbox.state.addRule({ name: 'new' })
  expect(await harness.sync()).toMatchObject({ status: 'partial', added: 1, removed: 0, quarantined: 1 })
  expect(await harness.query('select 1 from ferry.alert_rules')).toHaveLength(6)
})

test('fields outside the contract are never stored, only their names and types, once', async () => {
  await using harness = await openFerryHarness({ rules: 2 })
  harness.sandbox.breakContract()
  const [rule] = harness.sandbox.state.rules.rows()
  harness.sandbox.state.changeRule(rule!.id, { env: { TOKEN: 'hush-hush' } } as never)
  await harness.sync()
  harness.sandbox.state.reorder(3)
  await harness.sync()
  expect(await harness.query('select field, type from ferry.contract_drift')).toEqual([
    { field: 'env', type: 'object' },
  ])
  const everything = await harness.query('select to_jsonb(v)::text as row from ferry.alert_rule_versions v')
  expect(JSON.stringify(everything)).not.toContain('hush-hush')
})

test('time zones and cron patterns that break the contract are carried and flagged', async () => {
  await using harness = await openFerryHarness({ rules: 3 })
  harness.sandbox.breakContract()
  const [zone, cron] = [...harness.sandbox.state.rules.rows()]
  harness.sandbox.state.changeRule(zone!.id, { timezone: 'UTC+8' })
  harness.sandbox.state.changeRule(cron!.id, { cron_pattern: 'CRON_TZ=UTC 0 * * * *' })
  await harness.sync()
  expect(
    await harness.query('select id, flags from ferry.alert_rules where flags is not null order by id'),
  ).toEqual(
    [
      { id: `${zone!.id}`, flags: ['timezone is not an IANA name'] },
      { id: `${cron!.id}`, flags: ['cron_pattern names a time zone'] },
    ].sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1)),
  )
})

test('an account that is not there is a fault, which names those that are', async () => {
  await using harness = await openFerryHarness({ rules: 0 })
  const failed = await Promise.try(() => harness.sync({ account: 'nobody' })).catch(error => error)
  expect(failed).toEqual(new Error('no account is called nobody; there are: default'))
})
