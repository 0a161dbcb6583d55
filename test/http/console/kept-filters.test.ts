import { expect, test } from 'vitest'
import { recordActs } from '#src/db/audit.ts'
import { inTransaction } from '#src/db/pool.ts'
import { minutesAgo } from '#test/reports/ask.ts'
import { insertRuleVersion } from '#test/support/versions.ts'
import { openConsoleHarness } from './console-harness.ts'
import { hrefsOf } from './page-text.ts'

test('a link in a row narrows the list further, and a form keeps by what it was narrowed', async () => {
  await using harness = await openConsoleHarness()
  const { pool } = harness.ferry
  await insertRuleVersion(pool, { name: 'slow', folder: 7, labels: { team: 'core' }, from: minutesAgo(60) })
  const by = { actor: 'anna', because: null }
  const act = { account: 'a', action: 'pause', subjectKind: 'import', subject: '7' } as const
  await inTransaction(pool, client => recordActs(client, by, [act]))
  for (const [address, link] of [
    ['/rules?account=a&enabled=yes', '/rules?account=a&enabled=yes&folder=7'],
    ['/rules?account=a&sort=folder', '/rules?account=a&sort=folder&team=core'],
    ['/firing/never?account=a', '/firing/never?account=a&folder=7'],
    ['/ledger/audit?account=a', '/ledger/audit?account=a&actor=anna'],
  ] as const) {
    const { text } = await harness.page(address)
    expect(hrefsOf(text, link), address).toHaveLength(1)
  }
  const { text } = await harness.page('/ledger/calls?run=30')
  expect(text).toMatch(/<input[^>]*name="run"[^>]*value="30"/)
  expect(text).toContain(
    '<p class="notice">These are calls of run <a href="/ledger/runs/30">30</a>. <a href="/ledger/calls">Show all calls</a></p>',
  )
})
