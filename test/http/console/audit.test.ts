import { expect, test } from 'vitest'
import { recordActs } from '#src/db/audit.ts'
import { inTransaction } from '#src/db/pool.ts'
import type { Act, ActedBy } from '#src/model/act.ts'
import { BOTH_TOKENS, type ConsoleHarness, openConsoleHarness, READ_TOKEN } from './console-harness.ts'
import { HOSTILE, hrefsOf } from './page-text.ts'

function record(harness: ConsoleHarness, by: Partial<ActedBy>, ...acts: Partial<Act>[]): Promise<void> {
  const act: Act = { account: 'default', action: 'pause', subjectKind: 'import', subject: '7' }
  return inTransaction(harness.ferry.pool, client =>
    recordActs(
      client,
      { actor: 'anna', because: null, ...by },
      acts.map(one => ({ ...act, ...one })),
    ),
  )
}

test('the audit says who did what to what and why, the newest first, and leads there', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  await record(harness, { because: 'the list is wrong' }, {})
  await record(
    harness,
    { actor: 'sam' },
    { account: 'other', action: 'approve', subjectKind: 'run', subject: '41' },
    { action: 'run', subjectKind: 'schedule', subject: 'prune' },
  )
  const at = async (query: string) => (await harness.page(`/ledger/audit?${query}`, READ_TOKEN)).text
  const all = await at('')
  expect(all).toContain('the list is wrong')
  expect(all).toContain('no reason given')
  expect(hrefsOf(all, '/imports/7')).toHaveLength(1)
  expect(hrefsOf(all, '/ledger/runs/41')).toHaveLength(1)
  expect(all.indexOf('>prune<')).toBeLessThan(all.indexOf('the list is wrong'))
  const rows = (text: string) => text.match(/<tr><td/g)?.length ?? 0
  expect(rows(all)).toBe(3)
  expect(rows(await at('actor=sam'))).toBe(2)
  expect(all).toContain(
    '<datalist id="offered-actor"><option value="anna"></option><option value="sam"></option>',
  )
  expect(rows(await at('account=other'))).toBe(1)
  expect(rows(await at('action=pause'))).toBe(1)
  expect(await at('since=2999-01-01')).toContain('Nothing matches.')
  expect(await at('until=2000-01-01')).toContain('Nothing matches.')
})

test('the audit is shown page by page', async () => {
  await using harness = await openConsoleHarness()
  expect((await harness.page('/ledger/audit')).text).toContain('No manual actions yet.')
  await record(harness, {}, ...Array.from({ length: 70 }, (_, n) => ({ subject: `${n + 1}` })))
  const first = (await harness.page('/ledger/audit?actor=anna')).text
  const next = hrefsOf(first, '/ledger/audit?').find(href => href.includes('after='))!
  expect(next).toContain('actor=anna')
  const second = (await harness.page(next)).text
  const seen = [...hrefsOf(first, '/imports/'), ...hrefsOf(second, '/imports/')]
  expect(seen).toEqual(Array.from({ length: 70 }, (_, n) => `/imports/${70 - n}`))
})

test('wrong addresses are named, and hostile names are text', async () => {
  await using harness = await openConsoleHarness()
  for (const [query, name] of [
    ['action=steal', 'action'],
    ['until=soon', 'until'],
    ['after=x', 'after'],
    ['actor=a%00', 'actor'],
  ] as const) {
    const { status, text } = await harness.page(`/ledger/audit?${query}`)
    expect(status).toBe(400)
    expect(text).toContain(`The address is wrong: ${name}: `)
  }
  for (const name of HOSTILE) {
    const by = { actor: name.slice(0, 200), because: name.slice(0, 1_000) }
    await record(harness, by, { account: name, subject: name })
  }
  const { status, text } = await harness.page('/ledger/audit')
  expect(status).toBe(200)
  expect(text).not.toMatch(/<script>|<img src=x/)
})
