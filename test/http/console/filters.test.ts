import { expect, test } from 'vitest'
import { accountFilter, choicesOf, type Filter, filters } from '#src/http/console/parts/filters.ts'

const FIELDS: readonly Filter[] = [
  { name: 'words', label: 'Words', kind: 'text', hint: 'a name', offered: ['a', '<b>'] },
  { name: 'person', label: 'Person', kind: 'text' },
  { name: 'until', label: 'Until', kind: 'datetime-local', zone: 'Europe/Berlin' },
  { name: 'state', label: 'State', kind: 'choice', choices: { on: 'enabled', off: 'disabled' }, any: 'both' },
  { name: 'kind', label: 'Kind', kind: 'choice', choices: choicesOf(['x']) },
]

const draw = (query: string, fields = FIELDS) =>
  `${filters('/rules', new URLSearchParams(query), fields) ?? ''}`

test('a form has a field for each filter, empty where nothing was asked for', () => {
  expect(draw('')).toBe(`
<form class="filters" method="get" action="/rules" aria-label="Filter">
<label>Words <input type="text" name="words" value="" placeholder="a name" list="offered-words"><datalist id="offered-words"><option value="a"></option><option value="&lt;b&gt;"></option></datalist></label><label>Person <input type="text" name="person" value=""></label><label>Until (Europe/Berlin) <input type="datetime-local" name="until" value=""></label><label>State <select name="state"><option value="" selected>both</option><option value="on">enabled</option><option value="off">disabled</option></select></label><label>Kind <select name="kind"><option value="" selected>any</option><option value="x">x</option></select></label>
<button>Filter</button>
</form>`)
  expect(draw('', [])).toBe('')
})

test('what was asked for stands in the fields, in the zone of the page, and all can be shown again', () => {
  const page = draw('words=%22a&until=2026-11-20T02:30:45Z&state=off')
  expect(
    [...page.matchAll(/(?:value="[^"]*"[^>]* selected|<input[^>]* value="[^"]+")/g)].map(([part]) => part),
  ).toEqual([
    '<input type="text" name="words" value="&quot;a"',
    '<input type="datetime-local" name="until" value="2026-11-20T03:30"',
    'value="off" selected',
    'value="" selected',
  ])
  expect(page).toContain('<button>Filter</button> <a href="/rules">Show all</a>\n</form>')
})

test('a list with times has links to what happened lately, which keep the other filters', () => {
  const since: Filter = { name: 'since', label: 'Since', kind: 'datetime-local', zone: 'UTC' }
  const page = draw('since=24h&until=2026-11-20&words=a&after=x', [since])
  expect(/^<nav.*?<\/nav>/s.exec(page)?.[0]).toBe(
    '<nav aria-label="Period"><ul class="tabs periods"><li>The last</li>' +
      '<li><a href="/rules?words=a&amp;since=1h">1 hour</a></li>' +
      '<li><a href="/rules?words=a&amp;since=24h" aria-current="true">24 hours</a></li>' +
      '<li><a href="/rules?words=a&amp;since=7d">7 days</a></li></ul></nav>',
  )
})

test.for([
  ['', { east: 'east', west: 'west' }],
  ['account=west', { east: 'east', west: 'west' }],
  ['account=gone', { east: 'east', west: 'west', gone: 'gone' }],
] as const)(
  'accounts to choose from are those that are configured, and the one that %j asks for',
  ([query, choices]) => {
    expect(accountFilter(['east', 'west'], new URLSearchParams(query))).toEqual({
      ...{ name: 'account', label: 'Account', kind: 'choice', any: 'all' },
      choices,
    })
  },
)
