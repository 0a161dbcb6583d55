import { expect, test } from 'vitest'
import { INVISIBLE } from '#src/http/console/parts/visible.ts'
import { letTimePass } from '#test/support/let-time-pass.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { openConsoleHarness } from './console-harness.ts'
import { kindOf, walk } from './walk.ts'

/** What the console sends for one page, however long the texts of the platform are. */
const MAX_PAGE_BYTES = 300_000
const LONG = 60_000

const words = (seed: number) =>
  Array.from({ length: LONG / 6 }, (_, n) => `w${(n * 7919 + seed * 104_729) % 9_973}`.padEnd(6)).join('')

/** Long texts that are costly in ways of their own: many words, one word, what is escaped, what is shown as marks. */
const TEXTS = [
  (seed: number) => words(seed),
  (seed: number) => `${seed}`.padEnd(LONG, 'x'),
  (seed: number) => `${seed}`.padEnd(LONG, '"<&>\''),
  (seed: number) => `${seed}`.padEnd(LONG, '\u200b\u{e0041}'),
  (seed: number) => `${seed}`.padEnd(LONG, '👩‍👩‍👧‍👦'),
]

test('no page is larger than it may be, however long the texts of rules and servers are', async () => {
  expect(INVISIBLE.test('\u200b')).toBe(true)
  await using harness = await openConsoleHarness({}, { rules: 10, servers: 30 })
  const { state } = harness.sandbox
  harness.sandbox.breakContract()
  for (const round of [1, 2]) {
    const text = (index: number) => TEXTS[index % TEXTS.length]!(index + round)
    for (const [index, id] of state.servers.ids().entries()) {
      const tools = [{ name: text(index), description: text(index + 1) }]
      state.changeServer(id, { server_name: text(index), description: text(index + 1), tools })
    }
    for (const [index, id] of state.rules.ids().entries()) {
      state.changeRule(id, {
        ...{ name: text(index), updater_name: text(index + 2), triggered: round === 1 },
        labels: { [text(index)]: text(index + 1), team: text(index + 2) },
      })
    }
    await harness.sync()
    await harness.sync({ resource: 'mcp-servers' })
    await letTimePass(harness.ferry.pool, '10 minutes')
  }
  const bad: string[] = []
  const sizes = new Map<string, number>()
  await walk(async address => {
    // A machine under load may need longer for a statement than a page waits.
    const answered = await waitFor(
      async () => {
        const one = await harness.page(address)
        return one.status === 503 ? null : one
      },
      { what: 'the page' },
    )
    const kind = kindOf(address)
    sizes.set(kind, Math.max(sizes.get(kind) ?? 0, Buffer.byteLength(answered.text)))
    if (answered.status !== 200) bad.push(`${kind}: ${answered.status} `)
    return answered
  }, 3)
  expect(sizes.size).toBeGreaterThan(30)
  const tooLarge = [...sizes].filter(([, bytes]) => bytes > MAX_PAGE_BYTES)
  expect({ tooLarge, bad }).toEqual({ tooLarge: [], bad: [] })
})
