import { expect, test } from 'vitest'
import { parseJson } from '#src/sandbox/json.ts'
import { SANDBOX_ACCOUNT_ID } from '#src/sandbox/keys.ts'
import type { Sandbox } from '#src/sandbox/sandbox.ts'
import { call, openSmallSandbox } from './sandbox-harness.ts'

/** The rules listed, integers exact. */
async function rulesOf(
  sandbox: Sandbox,
  body: object = {},
  key = sandbox.appKey,
): Promise<Record<string, unknown>[]> {
  const heard = await call(sandbox, 'list-alert-rules', body, { key })
  return (parseJson(heard.text) as { data: Record<string, unknown>[] }).data
}

test('folder 0, and no folder at all, list every rule with the fields of the contract', async () => {
  await using sandbox = await openSmallSandbox({ rules: 12 })
  const all = await rulesOf(sandbox)
  expect(await rulesOf(sandbox, { folder_id: 0 })).toEqual(all)
  expect(all.map(rule => BigInt(rule.id as bigint))).toEqual(sandbox.state.rules.ids())
  const required = `id account_id folder_id name ds_type enabled debug_log_enabled cron_pattern delay_seconds
    creator_id creator_name updater_id updater_name created_at updated_at triggered`
  for (const rule of all) expect(Object.keys(rule)).toEqual(expect.arrayContaining(required.split(/\s+/)))
})

test('a folder lists its own rules, an emptied folder none, and a folder that never was is not found', async () => {
  await using sandbox = await openSmallSandbox({ rules: 0 })
  const { id } = sandbox.state.addRule({ folder_id: 2n ** 64n - 1n })
  sandbox.state.addRule({ folder_id: 7n })
  const listFolder = (folder: string) =>
    call(sandbox, 'list-alert-rules', {}, { text: `{"folder_id":${folder}}` })
  expect((await listFolder('18446744073709551615')).body.data).toHaveLength(1)
  sandbox.state.removeRule(id)
  expect((await listFolder('18446744073709551615')).body.data).toEqual([])
  expect(await listFolder('18446744073709551614')).toMatchObject({
    status: 400,
    body: { error: { code: 'ResourceNotFound' } },
  })
})

test.for(['"7"', '-1', '1.5', 'null', '18446744073709551616'])(
  'folder %s is an InvalidParameter',
  async folder => {
    await using sandbox = await openSmallSandbox()
    const heard = await call(sandbox, 'list-alert-rules', {}, { text: `{"folder_id":${folder}}` })
    expect(heard).toMatchObject({ status: 400, body: { error: { code: 'InvalidParameter' } } })
    expect(heard.body.error.message).toContain('folder_id')
  },
)

test('every account sees its own rules only', async () => {
  await using sandbox = await openSmallSandbox({ rules: 2 })
  const other = SANDBOX_ACCOUNT_ID + 1n
  sandbox.state.addKey({ key: 'other', accountId: other })
  sandbox.state.addRule({ account_id: other, name: 'theirs' })
  expect((await rulesOf(sandbox, {}, 'other')).map(rule => rule.name)).toEqual(['theirs'])
  expect(await rulesOf(sandbox)).toHaveLength(2)
})

test('ids to 2^64-1 leave as bare digits, and any string, key and missing field leaves as it was given', async () => {
  await using sandbox = await openSmallSandbox({ rules: 0 })
  sandbox.breakContract()
  const labels = JSON.parse('{"__proto__":"polluted","nul\\u0000":"\\ud800"}')
  sandbox.state.addRule({ id: 2n ** 64n - 1n, name: 'a\u0000b', labels, timezone: null, undeclared: 1 })
  const { text } = await call(sandbox, 'list-alert-rules')
  expect(text).toContain('"id":18446744073709551615,')
  expect(text).toContain('"name":"a\\u0000b"')
  expect(text).toContain('"labels":{"__proto__":"polluted","nul\\u0000":"\\ud800"}')
  expect(text).toContain('"undeclared":1')
  expect(text).not.toContain('timezone')
})

test('a change shows in the very next answer', async () => {
  await using sandbox = await openSmallSandbox({ rules: 3 })
  const [first, second] = sandbox.state.rules.ids()
  await rulesOf(sandbox)
  sandbox.state.changeRule(first!, { name: 'renamed' })
  expect((await rulesOf(sandbox))[0]).toMatchObject({ name: 'renamed' })
  sandbox.state.removeRule(second!)
  sandbox.state.addRule({ name: 'added' })
  expect((await rulesOf(sandbox)).map(rule => rule.name)).toEqual(['renamed', expect.any(String), 'added'])
})

test('reordering lists the same rules in another order, their fields too', async () => {
  await using sandbox = await openSmallSandbox({ rules: 30 })
  const before = await rulesOf(sandbox)
  sandbox.state.reorder(3)
  const after = await rulesOf(sandbox)
  expect(after).not.toEqual(before)
  const sorted = (rules: typeof before) => rules.toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
  expect(sorted(after)).toEqual(sorted(before))
  expect(Object.keys(sorted(after)[0]!)).not.toEqual(Object.keys(sorted(before)[0]!))
})

test('a body may be replaced word for word, and given back', async () => {
  await using sandbox = await openSmallSandbox({ rules: 1 })
  const data = '[{"id":1,"name":"\\ud800","id":"twice"},null]'
  sandbox.state.replaceRulesBody(data)
  const heard = await call(sandbox, 'list-alert-rules', { folder_id: 404 })
  expect(heard.text).toBe(`{"request_id":"${heard.body.request_id}","data":${data}}`)
  sandbox.state.replaceRulesBody(null)
  expect(await rulesOf(sandbox)).toHaveLength(1)
})
