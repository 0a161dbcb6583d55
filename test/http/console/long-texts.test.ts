import { expect, test } from 'vitest'
import { insertServerVersion } from '#test/support/versions.ts'
import { ask } from '../http-harness.ts'
import { openConsoleHarness } from './console-harness.ts'

const LONG = 'x'.repeat(60_000)

test('a probe asked after pages of very long texts is answered before the last of them, and no page is large', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
  for (let n = 0; n < 30; n++) {
    const server = { id: `s${n}`, name: `${n}${LONG}`, status: 'enabled' }
    const text = `${LONG}${n}`
    await insertServerVersion(pool, {
      ...server,
      from: at(1),
      to: at(2),
      description: text,
      tools: [{ name: LONG, description: text }],
    })
    const tools = [{ name: LONG, description: `${text}!` }]
    await insertServerVersion(pool, { ...server, from: at(2), description: `${text}!`, tools })
  }
  const paths = [
    '/servers',
    '/mcp/changes?since=2026-01-01',
    '/changes?resource=mcp-servers',
    `/changes/compare?from=${at(1).toISOString()}&to=${at(3).toISOString()}&resource=mcp-servers`,
    '/servers/a/s1',
  ]
  const ended: string[] = []
  const pages = paths.map(async path => {
    const { status, text } = await harness.page(path)
    ended.push(path)
    return { path, status, size: text.length }
  })
  const probe = ask(`${harness.http.address}/livez`).then(({ status }) => {
    ended.push('livez')
    return status
  })
  expect(await probe).toBe(200)
  for (const { path, status, size } of await Promise.all(pages)) {
    expect([path, status]).toEqual([path, 200])
    expect(size, path).toBeLessThan(500_000)
  }
  expect(ended.at(-1)).not.toBe('livez')
})
