import { describe, expect, test } from 'vitest'
import { addRun, ageRuns, NEW_RUN } from '#test/support/runs.ts'
import { cellsOf } from './cells.ts'
import { BOTH_TOKENS, openConsoleHarness, READ_TOKEN } from './console-harness.ts'
import { HOSTILE, hrefsOf } from './page-text.ts'

describe('the runs of the ledger', () => {
  test('are listed the newest first, each with its state, its counts and a link to it', async () => {
    await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS }, { rules: 3 })
    await harness.sync()
    harness.sandbox.state.inject({ kind: 'error', code: 'BalanceNotEnough' }, { nth: 1 })
    await harness.sync()
    const page = await harness.page('/ledger', READ_TOKEN)
    expect(page.status).toBe(200)
    expect(page.text.indexOf('/ledger/runs/2')).toBeLessThan(page.text.indexOf('/ledger/runs/1'))
    expect(page.text).toMatch(/badge bad[^>]*>failed/)
    expect(page.text).toMatch(/badge good[^>]*>succeeded/)
    expect(page.text).toContain('BalanceNotEnough')
    expect(page.text).not.toContain('data-refresh')
  })

  test('are narrowed by account, inventory, status and time, which may be in the zone of the page', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const old = await addRun(pool, { resource: 'mcp-servers', end: { status: 'partial' } })
    await ageRuns(pool, '3 days')
    const other = await addRun(pool, { account: 'other' })
    const runsAt = async (query: string) => {
      const { status, text } = await harness.page(`/ledger?${query}`)
      const links = hrefsOf(text, '/ledger/runs/')
      return status === 200 && links.length > 0 ? links.map(path => BigInt(path.split('/')[3]!)) : text
    }
    const dayAgo = new Date(Date.now() - 86_400_000).toISOString()
    expect(await runsAt('account=&status=')).toEqual([other, old])
    expect(await runsAt('account=default')).toEqual([old])
    expect(await runsAt('inventory=alert-rules')).toEqual([other])
    expect(await runsAt('status=partial')).toEqual([old])
    expect(await runsAt(`since=${dayAgo}`)).toEqual([other])
    expect(await runsAt(`until=${dayAgo.slice(0, 10)}`)).toEqual([old])
    expect(await runsAt('status=held')).toContain('No run matches.')
    expect(await runsAt('status=lost')).toContain('The address is wrong: status: ')
    expect(await runsAt('since=yesterday')).toContain('The address is wrong: since: write a time such as')
    expect(await runsAt('after=WyIxOyJd')).toContain('The address is wrong: after: ')
    expect((await harness.page('/ledger?inventory=mcp')).status).toBe(400)
  })

  test('that failed are told how they are tried again: with their folders, and where their account is', async () => {
    await using harness = await openConsoleHarness({}, { rules: 3 })
    await addRun(harness.ferry.pool, {
      scope: { ...NEW_RUN.scope, folders: ['77', '78'] },
      end: { status: 'failed' },
    })
    await addRun(harness.ferry.pool, { account: 'other', end: { status: 'failed' } })
    const next = async (run: number) => (await harness.page(`/ledger/runs/${run}`)).text
    expect(await next(1)).toContain('ferry sync alert-rules --account default --folder 77 --folder 78')
    expect(await next(2)).toContain('Account other is not in the settings here: ')
    expect(await next(1)).not.toContain('is not in the settings')
  })

  test('are shown page by page, each run once', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    for (let run = 0; run < 103; run++) await addRun(pool)
    const seen: string[] = []
    let path: string | undefined = '/ledger?status=succeeded'
    while (path) {
      const { text } = await harness.page(path)
      const links = hrefsOf(text, '/ledger/runs/')
      seen.push(...links)
      path = hrefsOf(text, '/ledger?').find(href => href.includes('after='))
      if (path) {
        expect(path).toContain('status=succeeded')
        expect(links).toHaveLength(50)
      } else expect(text).toContain('End of the list.')
    }
    expect(seen).toHaveLength(103)
    expect(new Set(seen).size).toBe(103)
  })

  test('have notes of what was quarantined, of the error and of the request, and else none', async () => {
    await using harness = await openConsoleHarness()
    const { pool } = harness.ferry
    const refused = { errorCode: 'ListingIncomplete', requestId: 'request-7' }
    for (const end of [
      {},
      { quarantined: 1 },
      { ...refused, status: 'partial', quarantined: 1_234 },
    ] as const)
      await addRun(pool, { end })
    const { text } = await harness.page('/ledger')
    const notes = cellsOf(text.replaceAll('<br>', ' / '), 'Runs, the newest first').map(row => row.at(-1))
    expect(notes).toEqual(['1,234 quarantined / ListingIncomplete / request-7', '1 quarantined', '–'])
  })

  test('refresh themselves only while one is under way', async () => {
    await using harness = await openConsoleHarness()
    const run = await addRun(harness.ferry.pool)
    expect((await harness.page(`/ledger/runs/${run}`)).text).not.toContain('data-refresh')
    expect((await harness.page('/ledger')).text).not.toContain('data-refresh')
    await harness.query(`update ferry.sync_runs set status = 'running', finished_at = null`)
    await addRun(harness.ferry.pool, { resource: 'mcp-servers' })
    for (const path of ['/ledger', `/ledger/runs/${run}`]) {
      expect((await harness.page(path)).text).toContain('data-refresh="10000"')
    }
  })

  test('without any say what starts the first one', async () => {
    await using harness = await openConsoleHarness()
    expect((await harness.page('/ledger')).text).toContain(
      'No run yet. <code>ferry sync all</code> starts the first one.',
    )
  })
})

describe('the page of a run', () => {
  test('has counts, message, error with request id, calls, quarantined rows without their content, and new fields', async () => {
    await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS }, { rules: 1 })
    harness.sandbox.breakContract()
    harness.sandbox.state.addRule({ id: 18446744073709551615n, name: 7 as never, description: 'a secret' })
    harness.sandbox.state.addRule({ surprise: 'a secret' })
    await harness.sync()
    await harness.sync()
    for (const run of [1, 2]) {
      const { status, text } = await harness.page(`/ledger/runs/${run}`, READ_TOKEN)
      expect(status).toBe(200)
      expect(text, `run ${run}`).toContain('18446744073709551615')
      expect(text).toMatch(/name/)
      expect(text).toContain('list-alert-rules')
      expect(hrefsOf(text, '/ledger/calls?request_id=').length).toBeGreaterThan(0)
      expect(text).not.toContain('a secret')
      expect(text.includes('surprise')).toBe(run === 1)
    }
    harness.sandbox.state.inject({ kind: 'error', code: 'BalanceNotEnough' }, { nth: 1 })
    const failed = await harness.sync()
    const { text } = await harness.page(`/ledger/runs/${failed.run}`, READ_TOKEN)
    expect(text).toContain('BalanceNotEnough')
    expect(hrefsOf(text, `/ledger/calls?request_id=${failed.requestId}`).length).toBe(2)
  })

  test('leads to the hold that it made, until that is decided', async () => {
    await using harness = await openConsoleHarness({}, { rules: 12 })
    await harness.sync()
    for (const id of harness.sandbox.state.rules.ids()) harness.sandbox.state.removeRule(id)
    const { run } = await harness.sync()
    const { text } = await harness.page(`/ledger/runs/${run}`)
    expect(text).toContain('held the removal of 12 rows')
    expect(hrefsOf(text, `/ledger/holds/${run}`)).toHaveLength(1)
    await harness.query(`update ferry.removal_holds set ended_at = now(), outcome = 'rejected'`)
    expect((await harness.page(`/ledger/runs/${run}`)).text).not.toContain('holds the removal')
  })

  test('shows the last of many calls, and where the others are', async () => {
    await using harness = await openConsoleHarness()
    const run = await addRun(harness.ferry.pool)
    expect((await harness.page(`/ledger/runs/${run}`)).text).toContain('The run made no call.')
    await harness.query(
      `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, run_id)
       select 'k', 'default', 'op-' || n, now(), now(), $1 from generate_series(1, 21) n`,
      [run],
    )
    const { text } = await harness.page(`/ledger/runs/${run}`)
    expect(text).toContain('op-21<')
    expect(text).not.toContain('op-1<')
    expect(text).toContain('no answer')
    expect(hrefsOf(text, `/ledger/calls?run=${run}`)).toHaveLength(1)
  })

  test.for([
    [20, 20, ''],
    [21, 21, 'And 1 more.'],
    [1_234, 25, 'And 1,214 more.'],
    [9, 0, ''],
  ] as const)(
    'of %i quarantined rows, of which %i are stored, shows twenty',
    async ([count, stored, more]) => {
      await using harness = await openConsoleHarness()
      const run = await addRun(harness.ferry.pool, { end: { quarantined: count } })
      await harness.query(
        `insert into ferry.quarantined_rows (run_id, position, id, reason, fingerprint)
       select $1, n, n, 'no name', gen_random_uuid() from generate_series(1, $2::int) n`,
        [run, stored],
      )
      const { text } = await harness.page(`/ledger/runs/${run}`)
      const rows = cellsOf(text, 'The first quarantined rows, by position in the listing')
      expect(rows).toHaveLength(Math.min(stored, 20))
      if (stored > 0) expect(rows[0]).toEqual(['1', '1', 'no name'])
      const [, rest = ''] = /<p>(And .*?)<\/p>/.exec(text) ?? []
      expect(rest).toBe(
        more && `${more} <code>ferry runs show ${run} --json</code> prints all that are stored.`,
      )
    },
  )

  test('escapes what others wrote, and shows a message whole', async () => {
    await using harness = await openConsoleHarness()
    for (const name of HOSTILE) {
      const end = { status: 'failed', errorCode: name, requestId: name, message: name } as const
      const run = await addRun(harness.ferry.pool, { account: name, end })
      for (const path of ['/ledger', `/ledger/runs/${run}`]) {
        const { status, text } = await harness.page(path)
        expect(status).toBe(200)
        expect(text).not.toMatch(/<script>|<img src=x/)
      }
    }
    const { text } = await harness.page('/ledger/runs/1')
    expect(text).toContain('&lt;script&gt;')
  })

  test('of a run that does not exist is not found', async () => {
    await using harness = await openConsoleHarness()
    for (const id of ['7', 'x', '99999999999999999999', '-1', '%2e%2e']) {
      expect((await harness.page(`/ledger/runs/${id}`)).status, id).toBe(404)
    }
  })
})
