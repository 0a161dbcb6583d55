import { expect, test } from 'vitest'
import { insertFiring, insertRuleVersion, type RuleVersion } from '#test/support/versions.ts'
import { textOf } from './cells.ts'
import { openConsoleHarness } from './console-harness.ts'

const FROM = '2026-01-01T00:00:00Z'
const FIRED = { from: '2026-01-02T00:00:00Z', to: '2026-01-02T00:05:00Z' }
const FIRING = { from: FIRED.from }
const GONE = { to: '2026-01-02T01:00:00Z' }
const AT = '2026-01-02 00:00:00'

test.for<[string, Partial<RuleVersion>, { from: string; to?: string } | null, string, string]>([
  ['never seen firing', {}, null, 'good:enabled', 'never seen'],
  ['that fired', {}, FIRED, 'good:enabled', AT],
  ['that is firing', {}, FIRING, 'good:enabled bad:firing', AT],
  ['switched off while it fires', { enabled: false }, FIRING, 'warn:disabled bad:firing', AT],
  ['with a debug log', { debug: true }, null, 'good:enabled warn:debug log', 'never seen'],
  ['that is gone', GONE, FIRED, 'bad:removed', AT],
] as const)('the page of a rule %s says so', async ([, version, firing, state, last]) => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  await insertRuleVersion(pool, { name: 'Slow', from: FROM, ...version })
  // That of another account has the same number.
  await insertRuleVersion(pool, { account: 'b', name: 'Slow', from: FROM })
  await insertFiring(pool, { account: 'b', from: FROM })
  if (firing) await insertFiring(pool, firing)
  const { text } = await harness.page('/rules/a/1')
  const fact = (name: string) => new RegExp(`<dt>${name}</dt><dd>(.*?)</dd>`, 's').exec(text)?.[1] ?? ''
  const badges = [...fact('State').matchAll(/class="badge (\w+)"[^>]*>(.*?)</g)]
  expect(badges.map(([, tone, word]) => `${tone}:${word}`).join(' ')).toBe(state)
  expect(textOf(fact('Fired last'))).toBe(last)
})
