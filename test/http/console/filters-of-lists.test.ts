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

/** What may be chosen in each list, each value with its words where they are others. Nothing chosen comes first. */
const CHOICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/rules': {
    firing: '=any, yes=firing, no=not firing',
    enabled: '=any, yes=enabled, no=disabled',
    sort: '=name, folder, updated, firing since=firing since (those that are not are left out)',
  },
  '/changes': {
    resource: '=both, alert-rules=alert rules, mcp-servers=MCP servers',
    kind: '=any, added, changed, removed, returned, first reading',
  },
  '/changes/editors': { period: '=30 days, 7d=7 days, 24h=24 hours' },
  '/imports': {
    status: '=any, staging, queued, running, paused, undecided, completed, cancelled',
  },
  '/servers': { enabled: '=any, yes=enabled, no=disabled', sort: '=name, team, updated' },
  '/mcp/risks': {
    reason:
      '=any, invisible characters, no https, tool deletes, tool writes, tool count differs, name used twice, ' +
      'tool name used twice, shared credentials, disabled but listed',
  },
  '/ledger': {
    inventory: '=both, alert-rules, mcp-servers',
    status: '=any, running, succeeded, partial, held, failed, skipped',
  },
  '/ledger/calls': {
    operation: '=any, list-alert-rules, import-subscribers, list-mcp-servers',
    refused: '=any, yes=refused or not answered',
  },
  '/ledger/snapshots': { status: '=any, succeeded, partial, held' },
  '/ledger/events': {
    kind:
      '=any, inventory.late, removals.held, run.failing, night.missed, import.paused, import.undecided, import.completed, ' +
      'mcp.tools.changed, drift.found, rule.disabled, rule.removed, rule.changed, rule.added',
    delivery: '=any, delivered, waiting, dead, not sent',
  },
  '/ledger/audit': {
    action: '=any, sync, approve, reject, confirm, pause, resume, cancel, resolve, purge, run, send',
  },
}

test('every choice that narrows a list has words that say what it leaves', async () => {
  await using harness = await openConsoleHarness()
  const choicesOf = async (path: string) => {
    const { text } = await harness.page(path)
    const [form = ''] = /<form class="filters".*?<\/form>/s.exec(text) ?? []
    const fields = [...form.matchAll(/<select name="(\w+)">(.*?)<\/select>/gs)].map(
      ([, name, options = '']) => {
        const choices = options.matchAll(/<option value="([^"]*)"[^>]*>(.*?)<\/option>/g)
        const words = [...choices].map(([, value, words]) => (value === words ? value : `${value}=${words}`))
        return [name, words.join(', ')]
      },
    )
    return Object.fromEntries(fields)
  }
  for (const { path } of PAGES.filter(page => page.csv)) {
    const { account = '=all, default', ...found } = await choicesOf(path)
    expect([path, account, found]).toEqual([path, '=all, default', CHOICES[path] ?? {}])
  }
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
