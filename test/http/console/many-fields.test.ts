import { expect, test } from 'vitest'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { textOf } from './cells.ts'
import { openConsoleHarness } from './console-harness.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

test('of many fields that one change altered eight are shown, and the rule or server has all of them', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const names = Array.from({ length: 10 }, (_, n) => `n${n}`)
  const labels = (value: string) => Object.fromEntries(names.map(name => [name, value]))
  const tools = (description: string) => names.slice(1).map(name => ({ name, description }))
  const old = { from: at(1), to: at(2) }
  await insertRuleVersion(pool, { ...old, id: '7', name: 'Slow', labels: labels('old') })
  await insertRuleVersion(pool, { from: at(2), id: '7', name: 'Slow', labels: labels('new') })
  await insertServerVersion(pool, { ...old, id: 's/1', name: 'Code', tools: tools('old') })
  await insertServerVersion(pool, { from: at(2), id: 's/1', name: 'Code too', tools: tools('new') })
  const rest = (address: string, fields: readonly string[]) => ({
    fields: fields.slice(0, 8),
    rest: `<p class="quiet">and 2 more: <a href="${address}">all of them</a></p>`,
  })
  const ofRule = rest(
    '/rules/a/7',
    names.map(name => `labels.${name}`),
  )
  const ofServer = rest('/servers/a/s%2F1', ['server_name', ...tools('').map(({ name }) => `tools.${name}`)])
  const compare = `/changes/compare?from=${at(1)}&to=${at(2)}`
  for (const [path, expected] of [
    ['/changes?kind=changed&resource=alert-rules', ofRule],
    ['/changes?kind=changed&resource=mcp-servers', ofServer],
    [`${compare}&resource=alert-rules`, ofRule],
    [`${compare}&resource=mcp-servers`, ofServer],
  ] as const) {
    const { text } = await harness.page(path)
    const [, list = '', more] = /<dl class="differences">(.*?)<\/dl>\n(.*?)<\/td>/s.exec(text) ?? []
    const fields = [...list.matchAll(/<dt>(.*?)<\/dt>/g)].map(([, field = '']) => textOf(field))
    expect({ fields, rest: more }, path).toEqual(expected)
  }
  // There, all of them are shown.
  for (const path of ['/rules/a/7', '/servers/a/s%2F1']) {
    const { text } = await harness.page(path)
    expect(/<dl class="differences">.*?<\/dl>/s.exec(text)?.[0].match(/<dt>/g), path).toHaveLength(10)
  }
})
