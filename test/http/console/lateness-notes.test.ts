import { expect, test } from 'vitest'
import { ageRuns } from '#test/support/runs.ts'
import { openConsoleHarness } from './console-harness.ts'

const OF_RULES = [
  '/rules',
  '/firing',
  '/firing/when',
  '/firing/noisy',
  '/firing/silenced',
  '/firing/load',
  '/firing/never',
]

test('a page of rules or servers says of which accounts it may not be true any more', async () => {
  await using harness = await openConsoleHarness({}, { rules: 3, servers: 2 })
  const { text: freshPage } = await harness.page('/rules')
  expect(freshPage).not.toContain('may not be so any more')
  await harness.sync()
  await harness.query(
    `insert into ferry.freshness_targets (account, resource, target, schedule, timezone, folders)
     values ('default', 'alert-rules', '5 min', 'poll', 'UTC', '["0"]'), ('default', 'mcp-servers', '5 min', 'poll', 'UTC', 'null')`,
  )
  await ageRuns(harness.ferry.pool, '10 min')
  for (const path of OF_RULES) {
    const { text } = await harness.page(path)
    expect(text, path).toContain('the alert-rules of account <bdi>default</bdi> (last read ')
    expect(text, path).not.toContain('the mcp-servers of')
  }
  const { text: changes } = await harness.page('/changes')
  expect(changes).toContain('the alert-rules of account <bdi>default</bdi> (last read ')
  expect(changes).toContain(', the mcp-servers of account <bdi>default</bdi> (never read completely)')
  expect((await harness.page('/changes?until=5m')).text).not.toContain('may not be so any more')
  expect((await harness.page('/servers')).text).toContain(
    'the mcp-servers of account <bdi>default</bdi> (never read completely)',
  )
  // Of another moment or another account, it says nothing about what is shown.
  for (const query of ['asOf=1m', 'account=other'])
    expect((await harness.page(`/rules?${query}`)).text, query).not.toContain('may not be so any more')
})
