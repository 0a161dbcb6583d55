import { expect, test } from 'vitest'
import { limits } from '#src/http/console/now/limits.ts'
import { textOf } from './whole-text.ts'

const FROM = Date.parse('2026-11-20T03:00:00Z')
const at = (minute: number) => new Date(FROM + minute * 60_000)
const calls = (operation: string, share: number | null, more = {}) => ({
  ...{ minute: at(9), account: 'a', operation, calls: 1_200, share, refused: 0 },
  ...more,
})

/** What the page Now says of the last hour, at ten minutes past. */
const draw = (...minutes: object[]) =>
  `${limits({ limits: minutes } as never, { limits: [], timezone: 'Europe/Berlin' }, at(10))}`

test('far from the limits, the calls are counted and folded: the fullest limit first, a line for those that are known', () => {
  const page = draw(
    calls('import', null, { calls: 1 }),
    calls('list', 0.002),
    calls('list', 0.499, { minute: at(8) }),
    calls('read', 0.099),
  )
  expect(textOf(page.replace(/<tbody>.*?<\/tbody>/s, ''))).toBe(
    `3,601 calls in the last hour, far from the limits Limits used in the last hour (of the calls allowed in a minute) 04:00 04:01 04:02 04:03 04:04 04:05 04:06 04:07 04:08 04:09 04:10
list of a
read of a
Times in Europe/Berlin.
The same numbers as a table Limits used in the last hour Time list of a read of a
Calls of the last hour Operation Account Calls Fullest minute 429
list a 2,400 50 % 0
read a 1,200 9.9 % 0
import a 1 – 0`,
  )
  expect(page).toMatch(/^<details class="fold" id="calls">/)
  expect(page).toContain('list of a: last 0.2 %, highest 50 %. read of a: last 9.9 %, highest 9.9 %.')
  expect(page).not.toContain('chart-limit')
  // An hour in which nothing was called yet is not drawn.
  expect(page.match(/<td data-head="Time">/g)).toHaveLength(10)
  expect(page).toContain('2026-11-20 04:00:00</time>')
  expect(page).not.toContain('2026-11-20 04:10:00</time>')
})

test.for([
  ['half of one is used', [calls('list', 0.5)], true],
  ['a call was refused', [calls('list', 0.1, { refused: 1 })], false],
] as const)(
  'that %s stands open, and the line of the limit is drawn if it is near',
  ([, minutes, isNear]) => {
    const page = draw(...minutes)
    expect(page).not.toContain('<details class="fold"')
    expect(page.includes('<text class="chart-limit-name"')).toBe(isNear)
  },
)

test('refused calls of a limit are added up, and stand out', () => {
  const page = draw(
    calls('list', 0.1, { refused: 1_000 }),
    calls('list', 0.1, { minute: at(1), refused: 234 }),
  )
  expect(page).toContain('<td data-head="429" class="number"><span class="badge warn">1,234</span></td>')
})

test('four lines are drawn at most, of the limits that are used most', () => {
  const page = draw(...[1, 2, 3, 4, 5].map(n => calls(`op ${n}`, n / 20)))
  const legend = [...page.matchAll(/<bdi>(op \d) of a<\/bdi><\/li>/g)].map(([, name]) => name)
  expect(legend).toEqual(['op 5', 'op 4', 'op 3', 'op 2'])
  expect(page.match(/<td data-head="Operation">/g)).toHaveLength(5)
})

test('limits of which nobody knows how many calls are allowed have numbers and no lines', () => {
  const page = draw(calls('list', null))
  expect(page).not.toContain('<figure')
  expect(textOf(page)).toContain('list a 1,200 – 0')
})
