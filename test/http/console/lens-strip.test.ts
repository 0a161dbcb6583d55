import { expect, test } from 'vitest'
import { MARKS } from '#src/http/console/charts/gantt.ts'
import { lensStrip } from '#src/http/console/parts/lens-strip.ts'
import { AROUND_KINDS } from '#src/reports/around.ts'

const FROM = Date.parse('2026-11-20T03:00:00Z')
const at = (minutes: number) => new Date(FROM + minutes * 60_000)
const SPAN = { from: at(0), to: at(60) }

const row = (kind: string, more = {}) => ({
  ...{ kind, account: 'a', inventory: 'alert-rules', since: null, observedAt: at(15), id: '7', name: 'Slow' },
  ...{ before: null, after: null, who: null, runId: null, whileFiring: false },
  ...more,
})
const firing = (n: number, more = {}) => ({
  ...{ account: 'a', id: `${n}`, name: `Rule ${n}`, began: at(-5), ended: at(30), known: true },
  ...more,
})

const draw = (rows: object[], fired: object[] = []) =>
  `${lensStrip({ rows, firing: fired, isCut: false } as never, SPAN, at(30), 'Europe/Berlin') ?? ''}`

/** What each mark means by its shape, and says. */
const marksIn = (page: string) =>
  [...page.matchAll(/<svg class="gantt-mark" x="25%" y="11"><path d="([^"]*)"><title>(.*?)<\/title>/g)].map(
    ([, shape, words]) =>
      `${Object.entries(MARKS).find(([, mark]) => mark.shape === shape)?.[0]}: ${words?.replaceAll(/[\u2068\u2069]/g, '|')}`,
  )

test('each change of an inventory has a mark of its kind, in words, and what fired or was decided has none', () => {
  const page = draw(AROUND_KINDS.map(kind => row(kind)))
  const when = '|Slow|, 2026-11-20 04:15:00'
  expect(marksIn(page)).toEqual([
    `on: added: ${when}`,
    `changed: edited: ${when}`,
    `off: switched off: ${when}`,
    `on: switched on: ${when}`,
    `off: removed: ${when}`,
    `on: returned: ${when}`,
    `on: MCP server added: ${when}`,
    `changed: MCP server changed: ${when}`,
    `off: MCP server removed: ${when}`,
    `on: MCP server returned: ${when}`,
    `on: MCP tool added: ${when}`,
    `off: MCP tool removed: ${when}`,
    `changed: MCP tool described differently: ${when}`,
  ])
  expect(page).toContain(
    '<bdi>alert-rules of a</bdi> <span class="quiet">1 time not known, 13 changes</span>',
  )
})

test('what has no name is called by its id, and a long name is cut', () => {
  expect(marksIn(draw([row('rule.added', { name: null })]))).toEqual(['on: added: |7|, 2026-11-20 04:15:00'])
  const [mark = ''] = marksIn(draw([row('rule.added', { name: 'x'.repeat(61) })]))
  expect(mark).toContain(`|${'x'.repeat(60)}|`)
})

test('an inventory without a change says so; one is drawn for each account', () => {
  const page = draw([
    row('rule.fired'),
    row('rule.added', { account: 'b' }),
    row('decision', { inventory: null }),
  ])
  expect(
    [...page.matchAll(/gantt-label"><bdi>(.*?)<\/bdi> <span class="quiet">(.*?)</g)].map(m => m.slice(1)),
  ).toEqual([
    ['alert-rules of a', 'nothing changed'],
    ['alert-rules of b', '1 change'],
  ])
})

test('the eight rules that fired longest are drawn, and how many there were', () => {
  const rules = (count: number) => Array.from({ length: count }, (_, n) => firing(n + 1))
  const unitOf = (page: string) => /<span class="quiet">\((.*?)\)<\/span><\/figcaption>/.exec(page)?.[1]
  const eight = draw([], rules(8))
  expect(unitOf(eight)).toBe('a bar is a firing, the line is the moment, times in Europe/Berlin')
  expect(eight.match(/class="gantt-label"/g)).toHaveLength(8)
  const nine = draw([], rules(9))
  expect(unitOf(nine)).toBe(
    'a bar is a firing, the 8 longest of 9, the line is the moment, times in Europe/Berlin',
  )
  expect(nine.match(/class="gantt-label"/g)).toHaveLength(8)
  expect(nine).toContain('<title id="lens-0">\u2068Rule 1\u2069 fired</title>')
  expect(nine).toContain('<path class="gantt-bar" d="M0 5h500v12H0z"/>')
  expect(nine).toContain('None: every inventory was read within its freshness target.')
})

test('a time that is not known covers the rules of its account; without its begin it is as long as what is shown', () => {
  const page = draw(
    [row('blind', { observedAt: at(15) }), row('blind', { since: at(30), observedAt: null })],
    [firing(1), firing(2, { account: 'b' })],
  )
  const blind = page.split('<li>').map(one => /class="gantt-blind" d="(.*?)"/.exec(one)?.[1])
  const all = 'M0 0h250v22H0zM500 0h500v22H500z'
  expect(blind.slice(1, 4)).toEqual([all, all, undefined])
})

test('where there is nothing to draw, there is no chart', () => {
  expect(draw([])).toBe('')
})
