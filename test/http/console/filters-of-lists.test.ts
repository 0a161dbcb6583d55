import { expect, test } from 'vitest'
import { PAGES } from '#src/http/console/pages.ts'
import { stageRows } from '#test/support/staged.ts'
import { openConsoleHarness } from './console-harness.ts'

/** The fields of the form by which each list is narrowed, as a person reads them. */
const FIELDS: Readonly<Record<string, string>> = {
  '/rules': 'Words, Folder, Team, Label, Firing, Account, State, As of, Sort by',
  '/changes': 'Since, Until, Person, Account, Inventory, Change, Folder',
  '/changes/editors': 'Account, Folder, The last',
  '/firing/silenced': '',
  '/firing/never': 'Account, Folder',
  '/imports': 'Status',
  '/servers': 'Words, Team, Account, State, As of, Sort by',
  '/mcp/tools': 'Account, Name or description',
  '/mcp/changes': 'Account, Since, Until',
  '/mcp/risks': 'Account, Reason',
  '/mcp/teams': '',
  '/ledger': 'Account, Inventory, Status, Since, Until',
  '/ledger/calls': 'Request id, Account, Operation, Outcome, Since, Until, Run',
  '/ledger/schedules': '',
  '/ledger/snapshots': 'Account, Status',
  '/ledger/holds': '',
  '/ledger/events': 'Account, Event, Message, Since, Until',
  '/ledger/audit': 'Account, Who, Did, Since, Until',
}

test('every list can be narrowed by all of its filters', async () => {
  await using harness = await openConsoleHarness()
  const fieldsOf = async (path: string) => {
    const { text } = await harness.page(path)
    const [form = ''] = /<form class="filters".*?<\/form>/s.exec(text) ?? []
    const labels = [...form.matchAll(/<label[^>]*>([^<(]*)/g)]
    return labels.map(([, label = '']) => label.trim()).join(', ')
  }
  const found: Record<string, string> = {}
  for (const { path } of PAGES.filter(page => page.csv)) found[path] = await fieldsOf(path)
  expect(found).toEqual(FIELDS)
  await stageRows(harness.ferry.pool, { account: 'another' })
  expect(await fieldsOf('/imports')).toBe('Account, Status')
})

test.for([
  ['/rules', 'words', 200],
  ['/rules', 'account', 200],
  ['/servers', 'words', 200],
] as const)('%s takes %s of %i characters, and no more', async ([path, name, most]) => {
  await using harness = await openConsoleHarness()
  const at = async (length: number) => (await harness.page(`${path}?${name}=${'x'.repeat(length)}`)).status
  expect([await at(most), await at(most + 1)]).toEqual([200, 400])
})
