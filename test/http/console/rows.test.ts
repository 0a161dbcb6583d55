import { expect, test } from 'vitest'
import {
  changeBadge,
  changedLink,
  firstReadEntry,
  inventoryLink,
  nameIn,
  pathOf,
  personLink,
} from '#src/http/console/parts/changes.ts'
import { notesOn, titleOf } from '#src/http/console/parts/inventory-row.ts'
import { serverLink, severityBadge, statusBadge, teamLink, toolName } from '#src/http/console/parts/mcp.ts'
import { observed, runBadge, runLink } from '#src/http/console/parts/runs.ts'
import { textOf } from './whole-text.ts'

/* What stands in the cells of many pages. */

const RULE = { resource: 'alert-rules', account: 'a b', id: '7', name: 'Slow <b>' } as const
const SERVER = { resource: 'mcp-servers', account: 'a', id: 's/1', name: 'Re\u200bpos' } as const

test('a rule or server has its name, which leads to it, and what it is', () => {
  expect(textOf(`${inventoryLink(RULE)}`)).toBe('[/rules/a%20b/7] Slow <b> alert rule 7 in a b')
  expect(textOf(`${inventoryLink(SERVER)}`)).toBe('[/servers/a/s%2F1] Re U+200B pos MCP server s/1 in a')
  expect(textOf(`${inventoryLink({ ...RULE, name: null })}`)).toBe('[/rules/a%20b/7] 7 alert rule 7 in a b')
  expect(pathOf('mcp-servers', 'a', 'x?y')).toBe('/servers/a/x%3Fy')
  expect([nameIn('alert-rules', null, 'gone'), nameIn('mcp-servers', ' ', 'gone')].map(String)).toEqual([
    '<span class="none">gone</span>',
    '<span class="none">(only spaces)</span>',
  ])
})

test('all that a first reading found is one entry, with how many accounts it is of', () => {
  const entry = (rows: number, accounts: string[], all?: string) =>
    textOf(`${firstReadEntry('mcp-servers', { rows, accounts: accounts as [string] }, all)}`)
  const words = 'existed before the first reading'
  expect(entry(1, ['a'])).toBe(`1 MCP server in a : ${words}`)
  expect(entry(1_234, ['a', 'b'], '/all')).toBe(`[/all] 1,234 MCP servers in a and 1 other account: ${words}`)
  expect(entry(2, ['a', 'b', 'c'])).toBe(`2 MCP servers in a and 2 other accounts: ${words}`)
  expect(textOf(`${changedLink({ ...RULE, rows: 3 } as never)}`)).toBe(`3 alert rules in a b : ${words}`)
  expect(textOf(`${changedLink({ ...RULE, rows: null } as never)}`)).toBe(
    '[/rules/a%20b/7] Slow <b> alert rule 7 in a b',
  )
})

test('each change, run and status has the color of how good it is', () => {
  const changes = ['added', 'changed', 'removed', 'returned', 'first reading'] as const
  expect(changes.map(change => textOf(`${changeBadge(change)}`))).toEqual([
    ...['good:added', 'quiet:changed', 'bad:removed', 'warn:returned', 'quiet:first reading'],
  ])
  const runs = ['running', 'succeeded', 'partial', 'held', 'failed', 'skipped', 'pending']
  expect(runs.map(status => textOf(`${runBadge(status)}`))).toEqual([
    ...[
      'quiet:running',
      'good:succeeded',
      'warn:partial',
      'warn:held',
      'bad:failed',
      'quiet:skipped',
      'quiet:pending',
    ],
  ])
  expect((['high', 'medium', 'low'] as const).map(severity => textOf(`${severityBadge(severity)}`))).toEqual([
    ...['bad:high', 'warn:medium', 'quiet:low'],
  ])
  expect(['enabled', 'disabled', 'broken', null].map(status => textOf(`${statusBadge(status)}`))).toEqual([
    ...['good:enabled', 'warn:disabled', 'broken', '–'],
  ])
  expect(`${runBadge('held', 'run 7')}`).toBe('<span class="badge warn" data-announce="run 7">held</span>')
})

test('servers, teams, tools, people and runs lead to their pages', () => {
  const query = new URLSearchParams('enabled=yes&after=x')
  expect(textOf(`${serverLink('a', 's/1', null)}`)).toBe('[/servers/a/s%2F1] s/1')
  expect(textOf(`${teamLink('a', '7', query)}`)).toBe('[/servers?enabled=yes&account=a&team=7] team 7')
  expect(textOf(`${teamLink('a', '0')}`)).toBe('[/servers?account=a&team=0] the whole account')
  expect(textOf(`${teamLink('a', null)}`)).toBe('–')
  expect(`${toolName('a\u200b')}`).toBe(
    '<code><bdi class="words">a<mark class="hidden-character">U+200B</mark></bdi></code>',
  )
  expect(textOf(`${toolName('x'.repeat(121))}`)).toBe(`${'x'.repeat(60)} … 1 character … ${'x'.repeat(60)}`)
  expect(textOf(`${personLink('Ada', by => `/changes?by=${by}`)}`)).toBe('[/changes?by=Ada] Ada')
  expect([textOf(`${runLink(7n)}`), textOf(`${runLink('7', 'Run 7')}`)]).toEqual([
    '[/ledger/runs/7] 7',
    '[/ledger/runs/7] Run 7',
  ])
  expect(textOf(`${observed({ at: new Date('2026-01-01T00:00:00Z'), run: 7n }, 'UTC')}`)).toBe(
    '[/at/THEN] THEN [/ledger/runs/7] run 7',
  )
})

test('the title of a page is the name, short enough, or the id of what has none', () => {
  expect([titleOf(' Slow ', '7'), titleOf(' ', '7'), titleOf(null, '7')]).toEqual(['Slow', '7', '7'])
  expect(titleOf('x'.repeat(120), '7')).toBe('x'.repeat(120))
  expect(titleOf('x'.repeat(121), '7')).toBe(`${'x'.repeat(119)}…`)
})

test('what to know of a row before its fields is said in notices', () => {
  const notes = (row: object, hold: string | null = null) => textOf(`${notesOn(row as never, hold, 'UTC')}`)
  expect(notes({ valid_to: null, flags: null, altered: null })).toBe('')
  expect(
    notes(
      {
        valid_to: new Date('2026-01-01T00:00:00Z'),
        flags: ['no zone', 'no cron'],
        altered: ['name', 'labels'],
      },
      '/ledger/holds/7',
    ),
  ).toBe(`(notice warn) It has been gone since [/at/THEN] THEN . Below is its last known state.
(notice warn) It is missing from the platform's listing. Its removal waits for a decision: [/ledger/holds/7] review it .
(notice warn) It does not follow the platform's own rules: no zone; no cron .
(notice) Characters that Postgres cannot store were replaced in name, labels .`)
})
