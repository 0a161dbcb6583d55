import { expect, test } from 'vitest'
import { html } from '#src/http/console/html.ts'
import { atMost, type Column, facts, table, wrongFirst } from '#src/http/console/parts/table.ts'

type Row = { readonly name: string; readonly rows: number }

const COLUMNS: readonly Column<Row>[] = [
  { head: 'Name', cell: ({ name }) => name },
  { head: 'Rows', isNumber: true, cell: ({ rows }) => rows },
]
const ROWS = ['<a>', 'b', 'c'].map((name, rows) => ({ name, rows }))

const draw = (rows: readonly Row[]) =>
  table('Things & more', COLUMNS, rows, html`Nothing. <a href="/">Now</a>`)
const names = (rows: readonly Row[]) => html`[${rows.map(({ name }) => name).join()}]`

test('a table is a region with its caption as its name, which the keyboard reaches to scroll it', () => {
  expect(`${draw(ROWS.slice(0, 1))}`).toBe(
    '<div class="table" role="region" aria-label="Things &amp; more" tabindex="0"><table>\n' +
      '<caption>Things &amp; more</caption>\n' +
      '<thead><tr><th scope="col">Name</th><th scope="col" class="number">Rows</th></tr></thead>\n' +
      '<tbody><tr><td data-head="Name">&lt;a&gt;</td><td data-head="Rows" class="number">0</td></tr>\n' +
      '</tbody></table></div>',
  )
  expect(`${draw(ROWS)}`.match(/<tr><td/g)).toHaveLength(3)
})

test('without rows its caption stands above what that means', () => {
  expect(`${draw([])}`).toBe(
    '<div class="empty"><p class="caption">Things &amp; more</p><p>Nothing. <a href="/">Now</a></p></div>',
  )
})

test.for([
  ['all', '[<a>,b,c]\n'],
  ['b', '[b]\n<details class="fold" id="here"><summary>2 others</summary>\n[<a>,c]</details>'],
  ['none', '\n<details class="fold" id="here"><summary>3 others</summary>\n[<a>,b,c]</details>'],
] as const)('of rows what is wrong is shown, and the others stand folded: %s', ([wrong, shown]) => {
  const isWrong = ({ name }: Row) => wrong === 'all' || name === wrong
  const others = (rows: readonly Row[]) => `${rows.length} others`
  const draw = (rows: readonly Row[]) => `${wrongFirst('here', rows, { isWrong, others }, names)}`
  expect(draw(ROWS)).toBe(shown.replaceAll('<a>', '&lt;a&gt;'))
  expect(draw([])).toBe('[]')
})

test.for([
  [1, '[&lt;a&gt;]<p>2 more are not shown.</p>'],
  [2, '[&lt;a&gt;,b]<p>1 more is not shown.</p>'],
  [3, '[&lt;a&gt;,b,c]'],
] as const)('of three rows %i are shown, and the others counted', ([max, shown]) => {
  expect(`${atMost(max, ROWS, names)}`).toBe(shown)
})

test('facts are pairs of a name and a value', () => {
  expect(
    `${facts([
      ['A & B', 1],
      ['C', html`<b>d</b>`],
    ])}`,
  ).toBe(
    '<dl class="facts"><div><dt>A &amp; B</dt><dd>1</dd></div><div><dt>C</dt><dd><b>d</b></dd></div></dl>',
  )
})
