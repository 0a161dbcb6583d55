import { expect, test } from 'vitest'
import { stageRows } from '#test/support/staged.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { cellsOf } from './cells.ts'
import { BOTH_TOKENS, openConsoleHarness, READ_TOKEN } from './console-harness.ts'

const FROM = new Date(Date.now() - 600_000)
const BEFORE = new Date(Date.now() - 900_000)

test('what has exactly the id comes first: rules of every account, also gone, servers, imports, runs and calls', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const { pool } = harness.ferry
  const id = await stageRows(pool, { file: 'people.csv' })
  for (const account of ['a', 'b']) {
    await insertRuleVersion(pool, { account, id, name: 'Oldest', from: BEFORE, to: FROM })
    await insertRuleVersion(pool, { account, id, name: 'Old', from: FROM, to: new Date() })
  }
  await insertServerVersion(pool, { id: `${id}`, name: 'Old server', from: BEFORE, to: FROM })
  await insertServerVersion(pool, { id: `${id}`, name: 'Server', from: FROM })
  await insertRuleVersion(pool, { id: '77', name: `Rule with ${id} in its name`, from: FROM })
  const { text } = await harness.page(`/search?q=+${id}+`, READ_TOKEN)
  const what = (caption: string) =>
    cellsOf(text, caption).map(([kind, name, , account]) => [kind, name, account].join(' '))
  expect(what('With exactly this id').toSorted()).toEqual([
    'MCP server Server a',
    'alert rule Old a',
    'alert rule Old b',
    'import people.csv default',
  ])
  expect(what('With these words')).toEqual([`alert rule Rule with ${id} in its name a`])
})

test('a request id leads to its calls; words lead to rules, servers and files', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  await harness.sync()
  const [{ request_id }] = (await harness.query('select request_id from ferry.platform_calls limit 1')) as [
    { request_id: string },
  ]
  const call = await harness.page(`/search?q=${request_id}`)
  expect(call.text).toContain(`href="/ledger/calls?request_id=${request_id}"`)
  const { run } = await harness.sync()
  const ofRun = cellsOf((await harness.page(`/search?q=${run}`)).text, 'With exactly this id')
  expect(ofRun.map(([kind, , id]) => `${kind} ${id}`)).toEqual([`run ${run}`])
  await insertServerVersion(pool, { id: 's', name: 'Zebra\u200b', from: FROM })
  await stageRows(pool, { file: 'ZEBRA-People.csv' })
  for (let n = 1; n <= 12; n++) await insertRuleVersion(pool, { id: `${n}`, name: `ZEBRA ${n}`, from: FROM })
  const { text } = await harness.page('/search?q=zebra')
  expect(cellsOf(text, 'With these words')).toHaveLength(12)
  expect(text).toContain('ZEBRA-People.csv')
  expect((await harness.page('/search?q=Zebra-PEOPLE')).text).toContain('ZEBRA-People.csv')
  expect(text).toContain('Zebra<mark class="hidden-character">U+200B</mark>')
  expect(text).toContain('href="/rules?words=zebra"')
  expect(text).not.toContain('href="/servers?words=zebra"')
  for (let n = 1; n <= 10; n++)
    await insertServerVersion(pool, { id: `z${n}`, name: `Zebra ${n}`, from: FROM })
  const { text: many } = await harness.page('/search?q=zebra')
  expect(many).toContain('<p><a href="/rules?words=zebra">All rules with these words</a></p>')
  expect(many).toContain('<p><a href="/servers?words=zebra">All servers with these words</a></p>')
})

test('what is no id, too large, empty or too long is no error of the server', async () => {
  await using harness = await openConsoleHarness()
  for (const q of [
    '',
    '99999999999999999999',
    '%',
    '9223372036854775808',
    "'",
    '<b>',
    'a'.repeat(200),
    '18446744073709551616',
  ]) {
    const { status, text } = await harness.page(`/search?${new URLSearchParams({ q })}`)
    expect(status, q).toBe(200)
    expect(text).not.toContain('<b>')
  }
  expect((await harness.page(`/search?q=${'a'.repeat(201)}`)).status).toBe(400)
  expect((await harness.page('/search?q=%00')).status).toBe(400)
})

test('an address that is not known says so, and offers to search for its last part', async () => {
  await using harness = await openConsoleHarness()
  const { status, text } = await harness.page('/rules/default/4203/<b>nothing')
  expect(status).toBe(404)
  expect(text).toContain('is not known here')
  expect(text).not.toContain('<b>')
  expect((await harness.page('/rules/default/4203')).text).toContain('name="q" value="4203"')
})
