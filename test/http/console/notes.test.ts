import { expect, test } from 'vitest'
import { addRun } from '#test/support/runs.ts'
import { stageRows } from '#test/support/staged.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { openConsoleHarness } from './console-harness.ts'
import { textOf } from './whole-text.ts'

/* What a page says beside its rows, whole: why an address is wrong, and what is not known of what it shows. */

test('a wrong address is told what it should be', async () => {
  await using harness = await openConsoleHarness()
  await harness.query(`insert into ferry.history (starts_at) values ('2026-01-01')`)
  const saidOf = async (path: string) => textOf((await harness.page(path)).text)
  for (const [path, words] of [
    ['/rules?label=team', 'label: write a label and its value: severity=critical.'],
    ['/rules?folder=x', 'folder: write the number of a folder.'],
    ['/rules?enabled=maybe', 'enabled: write yes or no.'],
    ['/ledger?since=yesterday', 'since: write a time such as 2026-11-20T03:30, or an age such as 24h.'],
    ['/ledger?since=2026-01-02&until=2026-01-01', 'since: it is later than until. Swap the two.'],
    [
      '/changes/compare?from=yesterday',
      'from: write the number of a snapshot, or a time such as 2026-11-20T03:30.',
    ],
    ['/changes/compare?from=2026-02-02&to=2026-02-01', 'from: it is later than to. Swap the two.'],
    ['/changes/compare?from=2999-01-01', 'from: it is later than now, and no other end is given.'],
    ['/firing?hours=12', 'hours: write 1 or 6 or 24 or 72 or 168 or 720.'],
  ]) {
    const [page = '', query = ''] = path?.split('?') ?? []
    const said = await saidOf(`${page}?${query}`)
    const wrong = `Wrong address\n(problem) The address is wrong: ${words}\n[${page}] Show all`
    expect(said.replaceAll('THEN', '2026-11-20T03:30'), path).toBe(wrong)
  }
  expect(await saidOf('/rules?asOf=2025-12-31')).toMatch(
    /^Wrong address\n\(problem\) The history starts at THEN.*?[.] .+\n\[\/rules\] Show all$/,
  )
})

test('a list of another moment says so, and of one that is to come that it is not', async () => {
  await using harness = await openConsoleHarness()
  const noteOf = async (path: string) => {
    const page = textOf((await harness.page(path)).text)
    return /\((?:notice|notice warn)\) .*$/m.exec(page)?.[0]
  }
  for (const path of ['/rules', '/servers']) {
    expect(await noteOf(`${path}?asOf=2026-01-01`)).toBe('(notice) As it was known at [/at/THEN] THEN .')
    expect(await noteOf(`${path}?asOf=2999-01-01`)).toBe(
      '(notice warn) This moment is in the future: what is shown is the current state.',
    )
  }
  expect(await noteOf('/changes?since=2999-01-01')).toBe(
    '(notice warn) “Since” is in the future: nothing has begun or changed since then.',
  )
  expect(await noteOf('/rules?account=nope')).toBe('(notice warn) No account is named nope .')
  // One of the settings, of which nothing was read yet, and all of them.
  for (const account of ['default', '*']) {
    const { text } = await harness.page(`/rules?account=${account}`)
    expect([account, text.includes('No account is named')]).toEqual([account, false])
  }
})

test('where the history or the runs begin is said below what looks farther back', async () => {
  await using harness = await openConsoleHarness()
  await addRun(harness.ferry.pool)
  await harness.query(
    `insert into ferry.history values (true, now() - interval '9 days', now() - interval '1 hour')`,
  )
  const lineOf = async (path: string, words: string) =>
    textOf((await harness.page(path)).text)
      .split('\n')
      .find(line => line.includes(words))
      ?.replace('Folder (of rules) Team (of rules) Words Filter ', '')
  expect(await lineOf('/firing/when', 'The history starts')).toBe(
    '(notice) The history starts at [/at/THEN] THEN . Older versions were removed after FERRY_KEEP_VERSIONS .',
  )
  const at = new Date(Date.now() - 7_200_000).toISOString()
  expect(await lineOf(`/at/${at}`, 'FERRY_KEEP_RUNS')).toBe(
    '(notice) Runs before [/at/THEN] THEN that changed nothing were removed after FERRY_KEEP_RUNS . What was read then is not known.',
  )
})

test.for([
  [1, ''],
  [5, ''],
  [6, ' and 1 other inventory'],
  [7, ' and 2 other inventories'],
] as const)(
  'of %i inventories that are late five are named, and the others counted',
  async ([count, rest]) => {
    await using harness = await openConsoleHarness()
    await harness.query(
      `insert into ferry.freshness_targets (account, resource, target, schedule, timezone, folders)
     select 'a' || n, 'alert-rules', '5 min', 'poll', 'UTC', '["0"]' from generate_series(1, $1::int) n`,
      [count],
    )
    const page = textOf((await harness.page('/rules')).text)
    const named = Array.from({ length: Math.min(count, 5) }, (_, n) => {
      return `the alert-rules of account a${n + 1} (never read completely)`
    })
    expect(page).toContain(
      `(notice warn) What is shown may not be so any more. Older than their freshness target are ${named.join(', ')}${rest}.`,
    )
  },
)

test('of servers, names of servers are suggested, and of rules those of rules', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  await insertServerVersion(pool, { id: '1', name: 'Repositories', from: '2026-01-01' })
  await insertRuleVersion(pool, { id: '1', name: 'Checkout', from: '2026-01-01' })
  const suggested = async (path: string) =>
    /<p class="notice">(.*?)<\/p>/.exec((await harness.page(path)).text)?.[1]
  expect(await suggested('/servers?words=repositorys')).toContain('did you mean <bdi>repositories</bdi>?')
  expect(await suggested('/servers?words=chekout')).toBeUndefined()
  expect(await suggested('/rules?words=chekout')).toContain('did you mean <bdi>checkout</bdi>?')
  expect(await suggested('/rules?words=repositorys')).toBeUndefined()
})

test.for([
  ['staging', true],
  ['queued', true],
  ['running', true],
  ['paused', false],
  ['completed', false],
] as const)('the list of imports looks again while one is %s: %s', async ([status, isMoving]) => {
  await using harness = await openConsoleHarness()
  await stageRows(harness.ferry.pool, { status, rows: 2 })
  const { text } = await harness.page('/imports')
  expect(/<main[^>]* data-refresh="(\d+)"/.exec(text)?.[1]).toBe(isMoving ? '15000' : undefined)
})
