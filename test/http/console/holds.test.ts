import { pino } from 'pino'
import { expect, test } from 'vitest'
import { acquireLease } from '#src/db/leases.ts'
import { leaseNameOf } from '#src/inventory/runs/lost-runs.ts'
import { cellsOf } from './cells.ts'
import {
  BOTH_TOKENS,
  type ConsoleHarness,
  OPERATE_TOKEN,
  openConsoleHarness,
  READ_TOKEN,
} from './console-harness.ts'
import { acts, GONE, hold, open, openForms, PATH, RULES, sendOpened, stored } from './held.ts'

test('without a hold the page says so; an unknown run and a run without a hold are not found', async () => {
  await using harness = await open()
  const { status, text } = await harness.page(PATH)
  expect(status).toBe(200)
  expect(text).toContain('No removals wait for a decision.')
  const { run } = await harness.sync()
  for (const path of ['99', `${run}`, 'x', '99999999999999999999', '-1']) {
    expect((await harness.page(`${PATH}/${path}`)).status).toBe(404)
    expect((await harness.page(`${PATH}/${path}/approve`)).status).toBe(404)
  }
  expect((await harness.page(`${PATH}?after=x`)).status).toBe(400)
})

test('a hold of MCP servers marks what is invisible in their names', async () => {
  await using harness = await openConsoleHarness({}, { rules: 0, servers: RULES })
  const { state } = harness.sandbox
  const gone = [...state.servers.rows()].slice(0, GONE).map(server => server.server_id)
  for (const id of gone) state.changeServer(id, { server_name: 'Re\u200bpos' })
  await harness.sync({ resource: 'mcp-servers' })
  for (const id of gone) state.removeServer(id)
  const { run, status } = await harness.sync({ resource: 'mcp-servers' })
  expect(status).toBe('held')
  const { text } = await harness.page(`${PATH}/${run}`)
  expect(text).toContain('Re<mark class="hidden-character">U+200B</mark>pos')
  expect(text).not.toContain('\u200b')
})

test('a hold shows the names and folders of what would go, also to who may only look', async () => {
  await using harness = await open({ tokens: BOTH_TOKENS })
  const { path, gone } = await hold(harness)
  const { text } = await harness.page(PATH, READ_TOKEN)
  expect(text).toContain(`href="${path}"`)
  expect(text).toContain('>15<')
  const page = await harness.page(path, READ_TOKEN)
  expect(page.status).toBe(200)
  expect(page.text).toContain('data-refresh="30000"')
  for (const id of gone) expect(page.text).toContain(`href="/rules/default/${id}"`)
  const [listed] = await harness.query<{ id: string }>(
    'select id from ferry.alert_rules where not id = any ($1::numeric[])',
    [gone],
  )
  const waits = `Its removal waits for a decision: <a href="${path}">`
  expect((await harness.page(`/rules/default/${gone[0]}`, READ_TOKEN)).text).toContain(waits)
  expect((await harness.page(`/rules/default/${listed?.id}`, READ_TOKEN)).text).not.toContain(
    'waits for a decision',
  )
  const folders = await harness.query<{ folder: string; rules: number; held: number }>(
    `select folder_id::text as folder, count(*)::int as rules, count(*) filter (where id = any ($1::numeric[]))::int as held
     from ferry.alert_rules group by 1`,
    [gone],
  )
  for (const { folder, rules, held } of folders.filter(row => row.held > 0)) {
    expect(page.text).toContain(
      `<code>${folder}</code></td><td data-head="Would be removed" class="number">${held}</td><td data-head="Current" class="number">${rules}</td>`,
    )
  }
  expect((await harness.page(`${path}/approve`, READ_TOKEN)).status).toBe(403)
  expect(await stored(harness)).toBe(RULES)
})

test('a hold says which rules are firing or off, and how many fire, also where their removal is confirmed', async () => {
  await using harness = await open()
  const { path, gone } = await hold(harness)
  const [firing, off] = gone
  await harness.query('delete from ferry.alert_rule_firings')
  const texts = () => Promise.all([path, `${path}/approve`].map(async at => (await harness.page(at)).text))
  for (const text of await texts()) expect(text).toContain('None of these is firing now.')
  const other = [...harness.sandbox.state.rules.ids()][0]
  await harness.query(
    `insert into ferry.alert_rule_firings (account, id, began, began_run)
     select 'default', id, now(), 1 from unnest($1::numeric[]) id`,
    [[firing, other]],
  )
  // Another has fired, and does so no more.
  await harness.query(
    `insert into ferry.alert_rule_firings (account, id, began, began_run, ended, ended_run)
     values ('default', $1, now() - interval '1 hour', 1, now(), 1)`,
    [gone[2]],
  )
  await harness.query('update ferry.alert_rule_versions set enabled = id <> $1', [off])
  const [page = '', confirmation] = await texts()
  for (const text of [page, confirmation]) expect(text).toContain('1 of these is firing now.')
  const states = new Map(
    cellsOf(page, 'Rows that would be removed').map(([, id, state]) => [id, state?.trim()]),
  )
  expect([states.get(firing), states.get(off), states.get(gone[2])]).toEqual([
    'enabled firing',
    'disabled',
    'enabled',
  ])
})

test('names of others stay text, and long lists go on on further pages', async () => {
  await using harness = await open()
  const { path, run } = await hold(harness)
  await harness.query(
    `insert into ferry.alert_rule_versions (account, id, valid_from, opened_by_run, fingerprint, account_id, folder_id, name,
       ds_type, enabled, debug_log_enabled, cron_pattern, delay_seconds, creator_id, creator_name, updater_id, updater_name,
       created_at, updated_at)
     select 'default', 18446744073709500000 + n, now(), 1, gen_random_uuid(), 1, 1, ($1::text[])[n % 3 + 1],
       'x', true, false, '', 0, 1, 'x', 1, '<b>', 0, 0 from generate_series(1, 60) n`,
    [['<script>alert(1)</script>', `"><img onerror=x>\u202e`, `😀${'x'.repeat(3_000)}`]],
  )
  await harness.query(
    `update ferry.removal_holds set ids = ids || array(select (18446744073709500000 + n)::text from generate_series(1, 60) n)
     where last_run = $1`,
    [run],
  )
  let next: string | undefined = path
  const ids: string[] = []
  while (next) {
    const { status, text }: { status: number; text: string } = await harness.page(next)
    expect(status).toBe(200)
    expect(text).not.toMatch(/<script>alert|<img onerror|<b>/)
    ids.push(...[...text.matchAll(/href="\/rules\/default\/(\d+)"/g)].map(([, id = '']) => id))
    next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  expect(ids).toHaveLength(GONE + 60)
  expect(ids).toEqual(ids.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)))
  expect(new Set(ids).size).toBe(GONE + 60)
})

test('approving removes what is still gone, and says who did it and why', async () => {
  await using harness = await open({ tokens: BOTH_TOKENS })
  const { path, run } = await hold(harness)
  expect((await harness.page(`${path}/approve`, OPERATE_TOKEN)).text).toContain('Remove 15 alert rules')
  const done = await harness.submit(`${path}/approve`, { because: 'moved away' }, OPERATE_TOKEN)
  expect(done).toMatchObject({ status: 303, headers: { location: path } })
  expect(await stored(harness)).toBe(RULES - GONE)
  const { text } = await harness.page(path, READ_TOKEN)
  expect(text).toContain('Approved: 15 alert rules were still missing, and were removed.')
  expect(text).toContain('<dt>Why</dt><dd><bdi>moved away</bdi></dd>')
  expect(text).toMatch(/class="badge bad"[^>]*>approved: removed</)
  // As they were last: they are not stored any more.
  expect(text).not.toContain('no longer stored')
  expect(await acts(harness)).toEqual([
    {
      action: 'sync',
      actor: 'console, operate token',
      because: 'moved away',
      subject_id: `${run + 1n}`,
    },
    { action: 'approve', actor: 'console, operate token', because: 'moved away', subject_id: `${run}` },
  ])
  const again = await harness.page(`${path}/approve`, OPERATE_TOKEN)
  expect(again).toMatchObject({ status: 303, headers: { location: path } })
})

test('two clicks are one approval', async () => {
  await using harness = await open()
  const { path } = await hold(harness)
  expect((await harness.page(path)).text).toContain(`href="${path}/approve"`)
  const clicks = await Promise.all([1, 2].map(() => harness.submit(`${path}/approve`)))
  expect(clicks.map(({ status }) => status).sort()).toEqual([303, 303])
  expect(await harness.query(`select from ferry.sync_runs where guard = 'approved'`)).toHaveLength(1)
  expect((await acts(harness)).filter(({ action }) => action === 'approve')).toHaveLength(1)
})

test('rejecting keeps the rows; a second decision is told how the hold ended', async () => {
  await using harness = await open({ tokens: BOTH_TOKENS })
  const { path, run, gone } = await hold(harness)
  const form = await harness.page(`${path}/approve`, OPERATE_TOKEN)
  expect((await harness.submit(`${path}/reject`, { because: 'wrong key' }, OPERATE_TOKEN)).status).toBe(303)
  expect(await stored(harness)).toBe(RULES)
  expect(await acts(harness)).toEqual([
    { action: 'reject', actor: 'console, operate token', because: 'wrong key', subject_id: `${run}` },
  ])
  const late = await sendOpened(harness, `${path}/approve`, form.text)
  expect(late.status).toBe(409)
  expect(late.text).toContain('it was rejected')
  expect(await stored(harness)).toBe(RULES)
  const { text } = await harness.page(path, READ_TOKEN)
  expect(text).toContain('Rejected by')
  expect(text).toContain('only if a complete listing has it again and later ones do not')
  expect(text).toContain('<dt>Decided by</dt><dd><bdi>console, operate token</bdi></dd>')
  expect(text).toContain('<dt>Why</dt><dd><bdi>wrong key</bdi></dd>')
  for (const id of gone) expect(text).toContain(`href="/rules/default/${id}"`)
  for (const page of [text, (await harness.page(PATH, READ_TOKEN)).text]) {
    expect(page).toMatch(/class="badge good"[^>]*>rejected: kept</)
  }
  expect(text).not.toContain('/approve"')
  expect(text).not.toContain('data-refresh')
})

test('a hold that was voided meanwhile is neither approved nor rejected', async () => {
  await using harness = await open({ tokens: BOTH_TOKENS })
  const { path, gone } = await hold(harness)
  const forms = await openForms(harness, path)
  for (const id of gone) harness.sandbox.state.addRule({ id: BigInt(id) })
  expect(await harness.sync()).toMatchObject({ status: 'succeeded' })
  for (const { at, text } of forms) {
    const late = await sendOpened(harness, at, text)
    expect(late.status).toBe(409)
    expect(late.text).toContain('it was voided')
  }
  expect((await harness.page(path, READ_TOKEN)).text).toContain('A later run settled it: it found the rows')
  expect(await acts(harness)).toEqual([])
})

test('what the platform refused is shown afterwards with its request_id, and the hold stays', async () => {
  await using harness = await open()
  const { path } = await hold(harness)
  harness.sandbox.state.faults.inject({ kind: 'error', code: 'AccessDenied' })
  expect((await harness.submit(`${path}/approve`, { because: 'x' })).status).toBe(303)
  await expect.poll(async () => (await harness.page(path)).text).toContain('nothing was removed')
  const [run] = await harness.query<{ request_id: string; message: string }>(
    `select request_id, message from ferry.sync_runs where guard = 'approved'`,
  )
  const { text } = await harness.page(path)
  expect(text).toContain(run!.request_id)
  expect(text).toContain(`href="${path}/approve"`)
  expect(text).toContain('Fix the cause, then approve again.')
  expect(await stored(harness)).toBe(RULES)

  // There is no button any more once it was rejected.
  expect((await harness.submit(`${path}/reject`)).status).toBe(303)
  const rejected = await harness.page(path)
  expect(rejected.text).toContain('nothing was removed')
  expect(rejected.text).not.toContain('Approve again')
})

/** Takes the lease of the inventory, as another run does. */
async function keepOthersOut({ ferry }: ConsoleHarness) {
  const name = leaseNameOf({ account: 'default', resource: 'alert-rules' })
  const lease = await acquireLease(ferry.pool, name, 'other', pino({ level: 'silent' }))
  if ('heldBy' in lease) throw new Error('somebody else has the lease')
  return lease
}

test('while another run reads the inventory, an approval waits, and its form is answered', async () => {
  await using harness = await open()
  const { path } = await hold(harness)
  const lease = await keepOthersOut(harness)
  expect(await harness.submit(`${path}/approve`)).toMatchObject({ status: 303, headers: { location: path } })
  const waiting = await harness.page(path)
  expect(waiting.text).toContain('once no other run is reading it')
  expect(waiting.text).toContain('data-refresh="10000"')
  expect(waiting.text).not.toContain(`href="${path}/approve"`)
  await lease.release()
  await expect.poll(async () => (await harness.page(path)).text).toContain('Approved:')
  expect(await stored(harness)).toBe(RULES - GONE)
})

test('a worker that stops meanwhile leaves the hold open', async () => {
  await using harness = await open()
  const { path } = await hold(harness)
  const lease = await keepOthersOut(harness)
  await harness.submit(`${path}/approve`)
  await harness.http.stop()
  await lease.release()
  expect(await harness.query('select ended_at from ferry.removal_holds')).toEqual([{ ended_at: null }])
  expect(await harness.query(`select status from ferry.sync_runs where guard = 'approved'`)).toEqual([
    { status: 'skipped' },
  ])
  expect(await stored(harness)).toBe(RULES)
})

test('a hold and its confirmations say how much of the inventory it is, and whether the listing was empty', async () => {
  await using harness = await open()
  const { path, run } = await hold(harness)
  const read = (of: string) =>
    Promise.all([of, `${of}/approve`, `${of}/reject`].map(async page => (await harness.page(page)).text))
  for (const text of await read(path)) {
    expect(text).toContain('15 of 30 alert rules')
    expect(text).not.toContain('The listing was empty.')
  }
  for (const { id } of [...harness.sandbox.state.rules.rows()]) harness.sandbox.state.removeRule(id)
  const empty = await harness.sync()
  expect(empty).toMatchObject({ status: 'held', run: run + 1n })
  for (const text of await read(`${PATH}/${empty.run}`)) {
    expect(text).toContain('all 30 alert rules')
    expect(text).toContain('The listing was empty.')
  }
})

test('one row was still gone, several were', async () => {
  await using harness = await open()
  const { path, gone } = await hold(harness)
  for (const id of gone.slice(1)) harness.sandbox.state.addRule({ id: BigInt(id) })
  expect((await harness.submit(`${path}/approve`)).status).toBe(303)
  await expect
    .poll(async () => (await harness.page(path)).text)
    .toContain('Approved: 1 alert rule was still missing, and was removed.')
})
