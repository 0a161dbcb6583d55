import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { MAX_BECAUSE_CHARACTERS } from '#src/model/act.ts'
import { accountsFile } from '#test/cli/open-cli.ts'
import { addRun } from '#test/support/runs.ts'
import { cellsOf } from './cells.ts'
import { BOTH_TOKENS, OPERATE_TOKEN, openConsoleHarness, READ_TOKEN } from './console-harness.ts'

const PATH = '/ledger/schedules'
const POLL = `${PATH}/poll-alert-rules/default`

test('the list has each schedule with its times, its outcome and what can be done', async () => {
  await using harness = await openConsoleHarness()
  const before = await harness.page(PATH)
  expect(before.status).toBe(200)
  expect(before.text).toContain('every 1 min')
  expect(before.text).toContain('<code>30 3 * * *</code> UTC')
  expect(before.text.match(/never run/g)).toHaveLength(4)
  const nexts = cellsOf(before.text, 'Schedules').map(cells => cells.at(-2))
  expect(nexts).toEqual(Array(4).fill(expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)))
  expect(before.text).toContain('data-refresh="30000"')

  await harness.query(
    `insert into ferry.schedule_slots (account, schedule, slot, done_at, outcome) values
       ('default', 'poll-alert-rules', now() - interval '1 minute', now(), 'failed'),
       ('default', 'poll-alert-rules', now() - interval '2 minutes', now(), 'succeeded'),
       ('*', 'prune', now(), null, null)`,
  )
  const { text } = await harness.page(PATH)
  expect(text).toMatch(/<span class="badge bad" data-announce="poll-alert-rules of default">failed</)
  expect(text).not.toContain('>succeeded<')
  expect(text).toMatch(/data-announce="prune of \*">pending</)
  expect(text).toContain('data-refresh="10000"')
})

test('the last runs of a schedule are a strip, the oldest first, and each leads to what came of it', async () => {
  await using harness = await openConsoleHarness()
  const succeeded = Array.from({ length: 14 }, () => 'succeeded')
  const outcomes = ['skipped', 'failed', null, 'partial', 'held', ...succeeded]
  for (const [hoursAgo, outcome] of outcomes.entries()) {
    await harness.query(
      `insert into ferry.schedule_slots (account, schedule, slot, done_at, outcome)
       values ('default', 'poll-alert-rules', $1, $2, $3)`,
      [slotOf(hoursAgo), outcome && new Date(slotOf(hoursAgo).getTime() + 60_000), outcome],
    )
  }
  const at = (hoursAgo: number) => ({ slot: slotOf(hoursAgo), account: 'default' })
  const failed = await addRun(harness.ferry.pool, { ...at(1), end: { status: 'failed', appliedAt: null } })
  await addRun(harness.ferry.pool, at(3))
  const night = await addRun(harness.ferry.pool, { ...at(3), end: { status: 'partial' } })
  await addRun(harness.ferry.pool, { ...at(4), account: 'other' })
  await harness.query(`update ferry.sync_runs set started_at = slot + interval '1 s'`)
  const { text } = await harness.page(PATH)
  const strip = /<span class="slots"><a.*?<\/span>/s.exec(text)?.[0] ?? ''
  const cells = [...strip.matchAll(/<a class="(\w+)" href="([^"]+)" title="([^"]+)"[^>]*>(.)</g)].map(
    ([, ...cell]) => cell,
  )
  const shown = (hoursAgo: number) => slotOf(hoursAgo).toISOString().slice(0, 19).replace('T', ' ')
  expect(cells).toHaveLength(14)
  expect(cells.slice(-6)).toEqual([
    ['good', `/at/${slotOf(5).toISOString()}`, `succeeded, ${shown(5)}`, '·'],
    ['warn', `/at/${slotOf(4).toISOString()}`, `held, ${shown(4)}`, '!'],
    ['warn', `/ledger/runs/${night}`, `partial, ${shown(3)}`, '!'],
    ['quiet', `/at/${slotOf(2).toISOString()}`, `pending, ${shown(2)}`, '·'],
    ['bad', `/ledger/runs/${failed}`, `failed, ${shown(1)}`, '×'],
    ['quiet', `/at/${slotOf(0).toISOString()}`, `skipped, ${shown(0)}`, '–'],
  ])
})

/** Some hours before this one. */
const slotOf = (hoursAgo: number) => new Date((Math.floor(Date.now() / 3_600_000) - 1 - hoursAgo) * 3_600_000)

test('a schedule is paused and resumed after a confirmation, by somebody with a reason, and twice is once', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const asked = await harness.page(`${POLL}/pause`, OPERATE_TOKEN)
  expect(asked.text).toContain('Pause: poll-alert-rules of default?')
  for (let click = 0; click < 2; click++) {
    const paused = await harness.submit(`${POLL}/pause`, { because: 'too loud' }, OPERATE_TOKEN)
    expect(paused).toMatchObject({ status: 303, headers: { location: PATH } })
  }
  expect(await harness.query('select schedule, account from ferry.schedule_pauses')).toEqual([
    { schedule: 'poll-alert-rules', account: 'default' },
  ])
  const { text } = await harness.page(PATH, READ_TOKEN)
  expect(text).toContain('>paused<')
  expect(text).toContain(`href="${POLL}/resume"`)

  await harness.submit(`${POLL}/resume`, { because: '  ' }, OPERATE_TOKEN)
  expect(await harness.query('select from ferry.schedule_pauses')).toEqual([])
  expect(await harness.query('select action, actor, because from ferry.audit order by id')).toEqual([
    { action: 'pause', actor: 'console, operate token', because: 'too loud' },
    { action: 'resume', actor: 'console, operate token', because: null },
  ])
})

test('the confirmations say what each schedule does, and what follows while it is paused', async () => {
  await using harness = await openConsoleHarness()
  for (const [schedule, does, paused] of [
    ['poll-alert-rules/default', 'It reads the alert rules', 'firings between two readings are not seen'],
    ['poll-mcp-servers/default', 'It reads the MCP servers', 'found by the nightly snapshot only'],
    ['snapshot-inventory/default', 'takes a snapshot', 'no snapshot is taken'],
    ['prune/*', 'It removes rows that are older than the settings', 'old rows stay, and the database grows'],
  ] as const) {
    const run = (await harness.page(`${PATH}/${schedule}/run`)).text
    expect(run).toContain(does)
    expect(run.includes('class="danger"'), schedule).toBe(schedule === 'prune/*')
    expect((await harness.page(`${PATH}/${schedule}/pause`)).text).toContain(paused)
  }
})

test('run now records a slot that is due at once, of the schedule of all accounts too', async () => {
  await using harness = await openConsoleHarness()
  for (const schedule of ['snapshot-inventory/default', 'prune/*']) {
    expect((await harness.submit(`${PATH}/${schedule}/run`)).status).toBe(303)
  }
  expect(
    await harness.query(
      `select schedule, account, manual, done_at, retry_at <= clock_timestamp() as due from ferry.schedule_slots order by schedule`,
    ),
  ).toEqual([
    { schedule: 'prune', account: '*', manual: true, done_at: null, due: true },
    { schedule: 'snapshot-inventory', account: 'default', manual: true, done_at: null, due: true },
  ])
})

test('a schedule or an account that is not there is not found, and a wrong place in the list is named', async () => {
  await using harness = await openConsoleHarness()
  for (const path of ['nothing/default', 'poll-alert-rules/other', 'poll-alert-rules/*', '%00/default']) {
    expect((await harness.page(`${PATH}/${path}/pause`)).status).toBe(404)
  }
  const wrong = await harness.page(`${PATH}?after=nonsense`)
  expect(wrong.status).toBe(400)
  expect(wrong.text).toContain('after')
})

test('who may only look is asked for the other token, and pauses nothing', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  expect((await harness.page(`${POLL}/pause`, READ_TOKEN)).status).toBe(403)
  expect((await harness.page(PATH, READ_TOKEN)).status).toBe(200)
  expect(await harness.query('select from ferry.schedule_pauses')).toEqual([])
})

test('of two accounts only the schedule of the one that was chosen is paused', async () => {
  const { accounts } = readConfig({ FERRY_BASE_URL: 'https://platform.example', FERRY_APP_KEY: 'key' })
  const two = ['east', 'west'].flatMap(name => accounts.map(account => ({ ...account, name })))
  await using harness = await openConsoleHarness({ config: { accounts: two } })
  expect((await harness.submit(`${PATH}/poll-alert-rules/west/pause`)).status).toBe(303)
  expect(await harness.query('select schedule, account from ferry.schedule_pauses')).toEqual([
    { schedule: 'poll-alert-rules', account: 'west' },
  ])
})

test('a reason that is too long is refused, and nothing is done', async () => {
  await using harness = await openConsoleHarness()
  const long = '🧨'.repeat(MAX_BECAUSE_CHARACTERS)
  const refused = await harness.submit(`${POLL}/pause`, { because: `${long}x` })
  expect(refused.status).toBe(400)
  expect(refused.text).toContain('The reason is longer than 1000 characters. Nothing was done.')
  expect(await harness.query('select from ferry.schedule_pauses')).toEqual([])
  expect((await harness.submit(`${POLL}/pause`, { because: long })).status).toBe(303)
})

test('the list goes on after the schedule that its address names', async () => {
  await using harness = await openConsoleHarness()
  const namesAt = async (query: string) =>
    cellsOf((await harness.page(PATH + query)).text, 'Schedules').map(([name]) => name)
  expect(await namesAt('')).toEqual(['prune', 'poll-alert-rules', 'poll-mcp-servers', 'snapshot-inventory'])
  const after = Buffer.from(JSON.stringify(['default', 'poll-alert-rules'])).toString('base64url')
  expect(await namesAt(`?after=${after}`)).toEqual(['poll-mcp-servers', 'snapshot-inventory'])
})

test('the schedules of many accounts go on on a second page, each shown once', async () => {
  const numbers = Array.from({ length: 14 }, (_, n) => n)
  const { accounts } = readConfig({
    FERRY_ACCOUNTS_FILE: accountsFile(
      ...numbers.map(n => ({
        name: `account-${n}`,
        baseUrl: 'https://platform.example',
        appKeyEnv: `KEY_${n}`,
      })),
    ),
    ...Object.fromEntries(numbers.map(n => [`KEY_${n}`, `key-${n}`])),
  })
  await using harness = await openConsoleHarness({ config: { accounts } })
  const rows = (text: string) => cellsOf(text, 'Schedules').map(([name, account]) => `${name} ${account}`)
  const first = (await harness.page(PATH)).text
  const next = /rel="next" href="([^"]+)"/.exec(first)?.[1]?.replaceAll('&amp;', '&')
  const second = (await harness.page(next ?? '')).text
  expect([rows(first).length, rows(second).length]).toEqual([25, 18])
  expect(new Set([...rows(first), ...rows(second)]).size).toBe(43)
  expect(second).toContain('End of the list.')
})
