import { expect, test } from 'vitest'
import { insertFiring, insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { BOTH_TOKENS, openConsoleHarness, READ_TOKEN } from './console-harness.ts'
import { HOSTILE } from './markup.ts'
import { hrefsOf } from './page-text.ts'

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
const FROM = minutesAgo(600)

test('the rules are narrowed by words, folder, team, label, state and account, and completed by what there is', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const { pool } = harness.ferry
  await insertRuleVersion(pool, { id: '1', name: 'Checkout', folder: 7, labels: { team: 'Pay' }, from: FROM })
  await insertRuleVersion(pool, { id: '2', name: 'Login', folder: 8, enabled: false, from: FROM })
  await insertRuleVersion(pool, { account: 'b', id: '1', name: 'Search', folder: 8, from: FROM })
  await insertRuleVersion(pool, { id: '3', name: 'Gone', from: FROM, to: minutesAgo(5) })
  await insertFiring(pool, { id: '1', from: minutesAgo(9) })
  const at = async (query: string) => {
    const { status, text } = await harness.page(`/rules?${query}`, READ_TOKEN)
    expect(status, query).toBe(200)
    return hrefsOf(text, '/rules/').filter(href => /^\/rules\/./.test(href))
  }
  expect(await at('')).toEqual(['/rules/a/1', '/rules/a/2', '/rules/b/1'])
  expect(await at('words=check')).toEqual(['/rules/a/1'])
  expect(await at('folder=8')).toEqual(['/rules/a/2', '/rules/b/1'])
  expect(await at('team=Pay')).toEqual(['/rules/a/1'])
  expect(await at('label=team%3DPay')).toEqual(['/rules/a/1'])
  expect(await at('enabled=no')).toEqual(['/rules/a/2'])
  expect(await at('firing=yes')).toEqual(['/rules/a/1'])
  expect(await at('firing=no&enabled=yes')).toEqual(['/rules/b/1'])
  expect(await at('account=b')).toEqual(['/rules/b/1'])
  expect(await at('sort=updated&asOf=10m')).toEqual(['/rules/b/1', '/rules/a/3', '/rules/a/2', '/rules/a/1'])
  const { text } = await harness.page('/rules', READ_TOKEN)
  expect(text).toContain(
    'list="offered-folder"><datalist id="offered-folder"><option value="7"></option><option value="8"></option></datalist>',
  )
  expect(text).toContain('<datalist id="offered-team"><option value="Pay"></option></datalist>')
  const nothing = async (query: string) => (await harness.page(`/rules?${query}`, READ_TOKEN)).text
  expect(await nothing('team=quite+other')).not.toContain('did you mean')
  const suggested = async (query: string) =>
    [...(await nothing(query)).matchAll(/<p class="notice">(Nothing .*?)<\/p>/g)].map(([, words]) => words)
  const instead = (asked: string, meant: string) =>
    `Nothing matches <bdi>${asked}</bdi>; did you mean <bdi>${meant}</bdi>?`
  expect(await suggested('words=chekout+CHEKOUT&team=Payy')).toEqual([
    instead('CHEKOUT', 'checkout'),
    instead('Payy', 'Pay'),
  ])
  expect(await suggested('words=checkout&folder=8')).toEqual([])
  expect(await suggested('words=team+pay&enabled=no')).toEqual([])
  for (const query of ['', 'team=Pay', 'team=Payy&after=WyJ6IiwieiIsIjEiLCIxIl0'])
    expect(await nothing(query), query).not.toContain('did you mean')
  for (const wrong of ['label=team', 'enabled=maybe', 'folder=x', 'sort=size', 'asOf=tomorrow']) {
    expect((await harness.page(`/rules?${wrong}`, READ_TOKEN)).status, wrong).toBe(400)
  }
})

test('a list of another moment says so, and of which part of the history nothing is left', async () => {
  await using harness = await openConsoleHarness()
  const asOf = async (when: string) => (await harness.page(`/rules?asOf=${when}`)).text
  expect(await asOf('1h')).toContain('As it was known at')
  expect(await asOf('2999-01-01')).toContain('This moment is in the future')
  await harness.query(`insert into ferry.history (starts_at) values (now() - interval '2 hours')`)
  expect(await asOf('1h')).toContain('As it was known at')
  for (const path of ['/rules', '/rules.csv', '/servers', '/servers.csv']) {
    const gone = await harness.page(`${path}?asOf=3h`)
    expect(gone, path).toMatchObject({ status: 400, text: expect.stringContaining('The history starts at') })
    expect((await harness.page(`${path}?asOf=1h`)).status, path).toBe(200)
  }
})

test('servers are found by words of their name, description and address, as of any moment', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  await insertServerVersion(pool, { id: '1', name: 'Code', description: 'Reads issues', team: 7, from: FROM })
  await insertServerVersion(pool, { id: '2', name: 'Mail', url: 'https://mail.example', from: minutesAgo(3) })
  const at = async (query: string) => hrefsOf((await harness.page(`/servers?${query}`)).text, '/servers/')
  expect(await at('')).toEqual(['/servers/a/1', '/servers/a/2'])
  expect(await at('words=ISSUES')).toEqual(['/servers/a/1'])
  expect(await at('words=mail.example')).toEqual(['/servers/a/2'])
  expect(await at('sort=updated')).toEqual(['/servers/a/2', '/servers/a/1'])
  expect(await at('sort=team')).toEqual(['/servers/a/2', '/servers/a/1'])
  expect(await at('asOf=30m')).toEqual(['/servers/a/1'])
})

test('names that break pages are shown, page by page, as what they are', async () => {
  await using harness = await openConsoleHarness()
  for (const [n, name] of HOSTILE.entries()) {
    const labels = { [name]: name, team: name }
    await insertRuleVersion(harness.ferry.pool, { id: `${n + 1}`, name, labels, by: name, from: FROM })
  }
  for (const path of [
    '/rules',
    '/rules?sort=folder',
    '/rules?sort=updated',
    '/search?q=script',
    '/changes',
  ]) {
    const { status, text } = await harness.page(path)
    expect(status, path).toBe(200)
    expect(text, path).not.toMatch(/<script>alert|<img src=x/)
  }
})
