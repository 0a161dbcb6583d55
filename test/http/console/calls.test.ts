import { expect, test } from 'vitest'
import { listCallLog } from '#src/db/list-calls.ts'
import { addRun } from '#test/support/runs.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { BOTH_TOKENS, openConsoleHarness, READ_TOKEN } from './console-harness.ts'
import { HOSTILE, hrefsOf } from './page-text.ts'

test('calls are listed the newest first, with what came of them and the run or import that made them', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS }, { rules: 3 })
  await harness.sync()
  harness.sandbox.state.inject({ kind: 'error', code: 'BalanceNotEnough' }, { nth: 1 })
  const { requestId } = await harness.sync()
  const [batch] = await harness.query<{ id: string }>(
    `insert into ferry.import_batches (import_id, from_line, to_line, rows, state) values (7, 1, 2, 2, 'sent') returning id`,
  )
  await harness.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, batch_id)
     values ('k', 'other', 'import-subscribers', now(), now(), $1)`,
    [batch!.id],
  )
  const { status, text } = await harness.page('/ledger/calls', READ_TOKEN)
  expect(status).toBe(200)
  expect(hrefsOf(text, '/imports/')).toEqual(['/imports/7'])
  expect(hrefsOf(text, '/ledger/runs/')).toEqual(['/ledger/runs/2', '/ledger/runs/1'])
  expect(text).toContain('no answer')

  const rowsAt = async (query: string) => {
    const page = await harness.page(`/ledger/calls?${query}`, READ_TOKEN)
    return [page.text.match(/<tr><td/g)?.length ?? 0, page.text] as const
  }
  const [found, page] = await rowsAt(`request_id=${requestId}`)
  expect(found).toBe(1)
  expect(page).toContain('BalanceNotEnough')
  expect((await rowsAt('account=other'))[0]).toBe(1)
  expect((await rowsAt('operation=list-alert-rules'))[0]).toBe(2)
  expect((await rowsAt('refused=yes'))[0]).toBe(1)
  expect((await rowsAt('run=1'))[0]).toBe(1)
  expect((await rowsAt('since=2999-01-01'))[1]).toContain('No call matches.')
  expect((await rowsAt('until=2000-01-01'))[1]).toContain('No call matches.')
  for (const query of ['since=2999-01-01', 'until=2000-01-01', 'run=99'])
    expect((await rowsAt(query))[1], query).toContain('FERRY_KEEP_CALLS')
  expect((await rowsAt('account=other'))[1]).not.toContain('FERRY_KEEP_CALLS')
  expect((await rowsAt('request_id=unknown'))[1]).toContain('No call has this request id.')
})

test('calls page by page come once each, refused or not, however many started at once', async () => {
  await using harness = await openConsoleHarness()
  await harness.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, error_code, run_id)
     select 'k', 'default', 'list-alert-rules', now() + n / 60 * interval '1 ms', now(), case when n % 2 = 0 then 'Busy' end, n
     from generate_series(1, 240) n`,
  )
  for (const [query, expected] of [
    ['', 240],
    ['?refused=yes', 120],
  ] as const) {
    const seen: string[] = []
    let path: string | undefined = `/ledger/calls${query}`
    while (path) {
      const { text } = await harness.page(path)
      seen.push(...hrefsOf(text, '/ledger/runs/'))
      path = hrefsOf(text, '/ledger/calls?').find(href => href.includes('after='))
    }
    expect(seen).toHaveLength(expected)
    expect(new Set(seen).size).toBe(expected)
    const numbers = seen.map(href => Number(href.split('/')[3]))
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a))
  }
})

/** Calls a minute apart, with gaps in their numbers as pruning leaves them. The last one is from now. */
async function addCalls(store: TestStore, calls: number): Promise<Date> {
  const { rows } = await store.pool.query<{ now: Date }>(
    `with made as (
       insert into ferry.platform_calls (limit_key, account, operation, started, counted_by)
       select 'k', 'default', 'list-alert-rules', t.now - ($1 - n) * interval '1 minute', t.now
       from generate_series(1, $1::int) n, (select date_trunc('milliseconds', now()) as now) t
     ) select date_trunc('milliseconds', now()) as now`,
    [calls],
  )
  await store.pool.query('delete from ferry.platform_calls where id % 7 = 3')
  return rows[0]!.now
}

test('calls of a time are found by their numbers, at every moment', async () => {
  await using store = await openTestStore()
  const last = await addCalls(store, 40_000)
  let met = 0
  for (let minute = 40_003; minute > -6; minute -= 997) {
    const since = new Date(last.getTime() - minute * 60_000)
    const until = new Date(since.getTime() + 5 * 60_000)
    const { calls } = await listCallLog(store.pool, 1_000, { since, until })
    const { rows } = await store.pool.query<{ id: string }>(
      'select id from ferry.platform_calls where started >= $1 and started < $2 order by id desc',
      [since, until],
    )
    expect(calls.map(({ call }) => call)).toEqual(rows.map(({ id }) => id))
    met += rows.length
  }
  expect(met).toBeGreaterThan(150)
})

test('a page looks at so many calls only, and the next one further back, until all were looked at', async () => {
  await using harness = await openConsoleHarness()
  await harness.query(
    `insert into ferry.platform_calls (id, limit_key, account, operation, started, counted_by) overriding system value
     select n, 'k', case when n in (5, 200004) then 'rare' else 'default' end, 'list-alert-rules', now() + n * interval '1 s', now()
     from unnest(array[5, 200004, 400020]) n`,
  )
  let path: string | undefined = '/ledger/calls?account=rare'
  const found: number[] = []
  while (path) {
    const { text } = await harness.page(path)
    found.push(text.match(/<tr><td/g)?.length ?? 0)
    expect(text.includes('The next page scans older ones.')).toBe(found.length === 1)
    path = hrefsOf(text, '/ledger/calls?').find(href => href.includes('after='))
  }
  expect(found).toEqual([0, 1, 1])
})

test.each([
  ['its request id', { requestId: 'old' }],
  ['its run', { run: 7n }],
])('a call with many after it is found at once by %s', async (_, filter) => {
  await using store = await openTestStore()
  await store.pool.query(
    `insert into ferry.platform_calls (id, limit_key, account, operation, started, counted_by, request_id, run_id)
       overriding system value
       values (5, 'k', 'default', 'list-alert-rules', now(), now(), 'old', 7),
         (400000, 'k', 'default', 'list-alert-rules', now(), now(), 'new', 8)`,
  )
  const { calls, next } = await listCallLog(store.pool, 9, filter)
  expect({ calls: calls.map(({ call }) => call), next }).toEqual({ calls: ['5'], next: null })
})

test('a wrong address names what is wrong with it', async () => {
  await using harness = await openConsoleHarness()
  for (const [query, name] of [
    ['run=x', 'run'],
    ['run=99999999999999999999', 'run'],
    ['refused=no', 'refused'],
    ['until=25:00', 'until'],
    ['after=e30', 'after'],
    ['account=a%00b', 'account'],
  ] as const) {
    const { status, text } = await harness.page(`/ledger/calls?${query}`)
    expect(status, query).toBe(400)
    expect(text).toContain(`The address is wrong: ${name}: `)
  }
  expect((await harness.page('/ledger/calls')).text).toContain('Ferry has not called the platform yet.')
  expect((await harness.page('/ledger/calls?refused=yes')).text).toContain('No refused calls.')
})

test('hostile text in calls and in the address is shown as text', async () => {
  await using harness = await openConsoleHarness()
  const run = await addRun(harness.ferry.pool)
  for (const name of HOSTILE) {
    await harness.query(
      `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, error_code, request_id, run_id)
       values ('k', $1, $1, now(), now(), $1, $1, $2)`,
      [name, run],
    )
    const query = new URLSearchParams({ request_id: name.trim(), account: name })
    for (const path of [`/ledger/calls?${query}`, '/ledger/calls', `/ledger/runs/${run}`]) {
      const { status, text } = await harness.page(path)
      expect(status).toBe(200)
      expect(text).not.toMatch(/<script>|<img src=x/)
    }
  }
})

test.for([
  ['since', [2, 0, 3], { since: 1 }, ['3', '1']],
  ['until', [2, 3, 0], { until: 1 }, ['3']],
] as const)(
  'a call whose number is out of order is found by its time, %s a moment',
  async ([, seconds, range, found]) => {
    await using store = await openTestStore()
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 10, 0, second))
    await store.pool.query(
      `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by)
     select 'k', 'default', 'list-alert-rules', at, at from unnest($1::timestamptz[]) at`,
      [seconds.map(at)],
    )
    const filter = Object.fromEntries(Object.entries(range).map(([edge, second]) => [edge, at(second)]))
    const { calls } = await listCallLog(store.pool, 9, filter)
    expect(calls.map(({ call }) => call)).toEqual(found)
  },
)
