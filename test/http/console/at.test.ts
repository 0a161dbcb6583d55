import { expect, test } from 'vitest'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { letTimePass } from '#test/support/let-time-pass.ts'
import { addRun, ageRuns } from '#test/support/runs.ts'
import { insertFiring, insertRuleVersion } from '#test/support/versions.ts'
import { cellsOf } from './cells.ts'
import { BOTH_TOKENS, type ConsoleHarness, openConsoleHarness, READ_TOKEN } from './console-harness.ts'
import { HOSTILE, rowsIn } from './markup.ts'

const HOSTILE_NAME = `<img src=x onerror=alert(1)> ${HOSTILE.slice(0, 20)}`

async function now({ query }: ConsoleHarness): Promise<string> {
  const [row] = await query<{ at: Date }>('select clock_timestamp() as at')
  return row!.at.toISOString()
}

/** A rule begins to fire, and Eve switches it off. */
async function openSilenced(options: Parameters<typeof openConsoleHarness>[0] = {}) {
  const harness = await openConsoleHarness(options, { rules: 0, servers: 0 })
  const { state } = harness.sandbox
  const labels = { team: 'payments', service: 'checkout' }
  state.addRule({ id: 1n, name: 'Checkout is slow', folder_id: 7n, labels, enabled: true, triggered: false })
  state.addRule({ id: 2n, name: HOSTILE_NAME, folder_id: 8n, labels: {}, enabled: true, triggered: false })
  await harness.sync()
  for (const id of [1n, 2n]) state.changeRule(id, { triggered: true })
  await harness.sync()
  state.changeRule(1n, { enabled: false, updater_name: 'Eve' })
  await harness.sync()
  return harness
}

/** The rows of the table of what was firing, and of what happened, without times. */
const whatIn = (text: string) =>
  text
    .slice(text.lastIndexOf('</figure>') + 1)
    .split('</table>')
    .flatMap(rowsIn)
    .map(row =>
      row
        .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|run \d+/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )

test('shows what was firing, what happened around it in order, and that a rule was switched off while it fired', async () => {
  await using harness = await openSilenced()
  const { status, text } = await harness.page(`/at/${await now(harness)}?folder=7`)
  expect(status).toBe(200)
  const rows = whatIn(text)
  expect(rows[0]).toMatch(
    /^Checkout is slow alert rule 1 in default .* still firing payments firing disabled$/,
  )
  expect(rows.slice(1).map(row => row.replace(' alert rule 1 in default', ''))).toEqual([
    expect.stringContaining('nothing was read alert-rules of default'),
    expect.stringContaining('read for the first time alert-rules of default rows: 2'),
    expect.stringContaining('began to fire Checkout is slow'),
    expect.stringMatching(/switched off while firing Checkout is slow enabled true → false Eve$/),
  ])
})

test('draws what is known of the time: what changed, what was firing, the moment, and what nobody read', async () => {
  await using harness = await openSilenced()
  const at = await now(harness)
  const strip = (await harness.page(`/at/${at}`)).text.split('</figure>')[0] ?? ''
  expect(strip).toContain('What is known of this time')
  expect(strip).toMatch(/<bdi>alert-rules of default<\/bdi> <span class="quiet">1 time not known, 1 change</)
  expect(strip).toContain('class="gantt-blind"')
  expect(strip.match(/class="gantt-moment"/g)).toHaveLength(3)
  expect(strip).toMatch(
    /<title>switched off while firing: \u2068Checkout is slow\u2069, [-\d]+ [:\d]+<\/title>/,
  )
  expect(strip).not.toContain('<img src=x')
  expect(cellsOf(strip, 'Times that are not known')).toEqual([
    ['default', 'alert-rules', 'ever', expect.stringMatching(/^\d{4}-/)],
  ])
  // Of the past all of the span is drawn, the moment in its middle.
  const past = new Date(Date.parse(at) - 6 * 3_600_000).toISOString()
  expect((await harness.page(`/at/${past}`)).text).toContain('class="gantt-moment" d="M500 0v22"')
  expect((await harness.page('/at/2020-01-01T00:00Z?account=none')).text).not.toContain('</figure>')
})

test('words and a team narrow it, and names of others stay text', async () => {
  await using harness = await openSilenced()
  const at = await now(harness)
  const found = async (query: string) => (await harness.page(`/at/${at}?${query}`)).text
  expect(await found('words=CHECKOUT+slow')).toContain('began to fire')
  expect(await found('words=nowhere')).toContain('No rule that matches was firing.')
  expect(await found('words=chekcout')).toContain('did you mean <bdi>checkout</bdi>?')
  expect(await found('words=checkout')).not.toContain('did you mean')
  expect(await found('team=payments')).not.toContain('onerror')
  const all = await found('')
  expect(all).toContain('&lt;img src=x')
  expect(all).not.toContain('<img src=x')
  expect((await harness.page(`/at/${at}?minutes=7`)).status).toBe(400)
  expect((await harness.page(`/at/yesterday`)).status).toBe(404)
  expect((await harness.page(`/at/${at.slice(0, 10)}?minutes=1440`)).status).toBe(200)
})

test('says of a moment at which nothing was read that nothing is known of it, and claims nothing', async () => {
  await using harness = await openSilenced()
  await ageRuns(harness.ferry.pool, '1 hour')
  await harness.query(`update ferry.alert_rule_firings set began = began - interval '1 hour'`)
  await harness.query(
    `update ferry.alert_rule_versions set valid_from = valid_from - interval '1 hour', valid_to = valid_to - interval '1 hour'`,
  )
  await addRun(harness.ferry.pool)
  const [row] = await harness.query<{ at: Date }>(`select now() - interval '30 min' as at`)
  const { text } = await harness.page(`/at/${row!.at.toISOString()}`)
  expect(text).toContain('Nothing is known of this moment: alert-rules of account')
  expect(whatIn(text)[0]).toMatch(/ 30 min .* not known: it fired before disabled$/)
})

test('of a rule first seen firing after the moment it says so, in place of a duration', async () => {
  await using harness = await openConsoleHarness({}, { rules: 0, servers: 0 })
  const { state } = harness.sandbox
  state.addRule({ id: 1n, name: 'Checkout is slow', enabled: true, triggered: false })
  await harness.sync()
  await letTimePass(harness.ferry.pool, '1 hour')
  state.changeRule(1n, { triggered: true })
  await harness.sync()
  const [row] = await harness.query<{ at: Date }>(`select now() - interval '30 min' as at`)
  const { text } = await harness.page(`/at/${row!.at.toISOString()}`)
  expect(whatIn(text)[0]).toMatch(/not known: first seen firing later$/)
  expect(whatIn(text)[0]).not.toContain(' ms')
  // Nothing was read before the first reading, and between the two.
  const { text: strip } = await harness.page(`/at/${row!.at.toISOString()}?minutes=360`)
  expect(strip).toMatch(/class="gantt-blind" d="M0 [^M]+zM[1-9][^M]+z"/)
})

test('beside a rule, only what is not known of rules of its account is drawn', async () => {
  await using harness = await openConsoleHarness({}, { rules: 0, servers: 1 })
  const { pool } = harness.ferry
  const target = { ...FRESHNESS_TARGET, targetMs: 86_400_000 }
  const unread = { ...target, targetMs: 60_000 }
  await saveFreshnessTargets(pool, [
    target,
    { ...unread, resource: 'mcp-servers' },
    { ...unread, account: 'other' },
  ])
  harness.sandbox.state.addRule({ id: 1n, name: 'Checkout is slow', enabled: true, triggered: true })
  const syncAll = async () => {
    await harness.sync()
    await harness.sync({ resource: 'mcp-servers' })
    await addRun(pool, { account: 'other' })
  }
  await syncAll()
  await letTimePass(pool, '1 hour')
  await syncAll()
  const [row] = await harness.query<{ at: Date }>(`select now() - interval '30 min' as at`)
  const strip =
    (await harness.page(`/at/${row!.at.toISOString()}?minutes=15`)).text.split('</figure>')[0] ?? ''
  expect(strip).toContain('<bdi>Checkout is slow</bdi>')
  // That of the servers, that of the rules of the other account, and the legend.
  expect(strip.match(/class="gantt-blind"/g)).toHaveLength(3)
})

test('every instant of the past leads to it, also for those who only read', async () => {
  await using harness = await openSilenced({ tokens: BOTH_TOKENS })
  const { text } = await harness.page('/changes', READ_TOKEN)
  const [, address] = /<a class="at" href="(\/at\/[^"]+)">/.exec(text) ?? []
  const page = await harness.page(address ?? '', READ_TOKEN)
  expect(page.status).toBe(200)
  expect(page.text).toContain('switched off while firing')
})

test('an hour before the history starts is not shown', async () => {
  await using harness = await openSilenced()
  await harness.query(`insert into ferry.history (starts_at) values (now() - interval '30 min')`)
  const { status, text } = await harness.page(`/at/${await now(harness)}`)
  expect(status).toBe(200)
  expect(text).toContain('The history starts at')
})

test('of a moment that is still to come, nothing is claimed', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  await insertRuleVersion(pool, { id: '1', name: 'fires', from: '2026-01-01T00:00:00Z' })
  await insertFiring(pool, { id: '1', from: '2026-01-01T00:00:00Z' })
  const { status, text } = await harness.page('/at/2125-01-01T00:00:00Z')
  expect(status).toBe(200)
  expect(text).toContain('This moment is in the future: nothing is known of it.')
  expect(text).not.toMatch(/firing at that moment|Every reading/i)
})
