import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { differencesList, openRoom } from '#src/http/console/parts/differences.ts'
import { futureNotice, isUnread, type Moment, unreadNotice } from '#src/http/console/parts/moments.ts'
import { ago, badge, enabledBadge, ruleBadges, time } from '#src/http/console/parts/values.ts'
import { looksSame, marked, namedInWords, visible } from '#src/http/console/parts/visible.ts'
import { shortened, wordDiff } from '#src/http/console/parts/word-diff.ts'
import { textOf } from './whole-text.ts'

const DAY_MS = 86_400_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-20T03:00:00Z') })
  onTestFinished(() => void vi.useRealTimers())
})

test('an instant leads to what happened then unless it is to come, and is shown in the zone', () => {
  const at = new Date('2026-01-02T03:04:05.678Z')
  expect(`${time(at, 'Europe/Berlin')}`).toBe(
    '<a class="at" href="/at/2026-01-02T03:04:05.678Z"><time datetime="2026-01-02T03:04:05.678Z">2026-01-02 04:04:05</time></a>',
  )
  expect(`${time(new Date('2999-01-02T03:04:05Z'), 'UTC')}`).toBe(
    '<time datetime="2999-01-02T03:04:05.000Z">2999-01-02 03:04:05</time>',
  )
  expect([`${time(null, 'UTC')}`, `${time(null, 'UTC', 'never')}`]).toEqual([
    '<span class="none">–</span>',
    '<span class="none">never</span>',
  ])
})

test.for([
  [0, '1 s ago'],
  [59_000, '59 s ago'],
  [61_999, '1 min ago'],
  [3_599_000, '59 min ago'],
  [DAY_MS + 3_660_000, '1 d 1 h ago'],
  [7 * DAY_MS, '7 d ago'],
] as const)('%i ms ago is shown as %s, exactly when it is pointed at', ([ageMs, words]) => {
  const at = new Date(Date.now() - ageMs)
  const [, title, shown] = / title="([^"]*)" data-ago>(.*?)<\/time><\/a>$/.exec(`${ago(at, 'UTC')}`) ?? []
  expect(title).toBe(`${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`)
  expect(shown).toBe(words)
})

test.for([
  ['of another week', -7 * DAY_MS - 1],
  ['to come', 1],
] as const)('an instant that is %s is shown exactly', ([, fromNowMs]) => {
  const at = new Date(Date.now() + fromNowMs)
  expect(`${ago(at, 'UTC')}`).toBe(`${time(at, 'UTC')}`)
  expect(`${ago(null, 'UTC', 'never')}`).toBe('<span class="none">never</span>')
})

test('a badge has a color, and says to screen readers of what it is the state if that is known', () => {
  expect(`${badge('warn', 'a <b>', 'Import 7')}`).toBe(
    '<span class="badge warn" data-announce="Import 7">a &lt;b&gt;</span>',
  )
  expect([`${enabledBadge(true)}`, `${enabledBadge(false)}`]).toEqual([
    '<span class="badge good">enabled</span>',
    '<span class="badge warn">disabled</span>',
  ])
  expect(textOf(`${ruleBadges(true, true)}`)).toBe('good:enabled bad:firing')
  expect(textOf(`${ruleBadges(false, false)}`)).toBe('warn:disabled')
})

test('invisible characters have marks, twenty at most; lines and tabs stay', () => {
  const mark = '<mark class="hidden-character">U+200B</mark>'
  expect(`${marked('a\u200bb\n\t<')}`).toBe(`a${mark}b\n\t&lt;`)
  expect(`${marked('\u200b'.repeat(20))}`).toBe(mark.repeat(20))
  expect(`${marked('\u200b'.repeat(22))}`).toBe(
    `${mark.repeat(20)}<mark class="hidden-character">2 more invisible</mark>`,
  )
  expect(namedInWords('a\u0007👩‍🚒\u200d')).toBe('aU+0007👩‍🚒U+200D')
  expect([looksSame('a\u200bb', 'ab'), looksSame('ab', 'ac')]).toEqual([true, false])
})

test('a long text is cut in its middle, and what is left out is counted', () => {
  expect(`${shortened('abcdef', 6)}`).toBe('abcdef')
  expect(`${shortened('abcdefgh', 5)}`).toBe('abc<span class="cut"> … 3 characters … </span>gh')
  const words = (text: string) => textOf(`${visible(text)}`)
  expect(words('x'.repeat(300))).toBe('x'.repeat(300))
  expect(words('x'.repeat(301))).toBe(`${'x'.repeat(150)} … 1 character … ${'x'.repeat(150)}`)
})

test('of texts of more than 4,000 characters, what stayed is cut to 120 and what went and came to 600', () => {
  const cutsIn = (start: number) => {
    const stays = 'stays '.repeat(start / 6)
    const page = `${wordDiff(`${stays}old${'o'.repeat(700)}`, `${stays}new${'n'.repeat(700)}`)}`
    return [...page.matchAll(/<(bdi|del|ins)>[^<]*(?:<span class="cut"> … ([\d,]+) characters … <)?/g)].map(
      ([, tag, left = 'whole']) => `${tag} ${left}`,
    )
  }
  // Both texts together have 4,000 characters, and then two words more.
  expect(cutsIn(1_296)).toEqual(['bdi whole', 'del whole', 'ins whole'])
  expect(cutsIn(1_302)).toEqual(['bdi 1,182', 'del 103', 'ins 103'])
})

test('values of a difference are cut to 600 characters, and fields are counted once a page is full', () => {
  const fields = (value: unknown) => JSON.stringify({ a: value, b: value })
  const change = (before: unknown, after: unknown) =>
    ({ resource: 'alert-rules', before: fields(before), after: fields(after) }) as const
  const list = (before: unknown, after: unknown, room = openRoom()) =>
    textOf(`${differencesList(change(before, after), 8, room, '/rules/a/1')}`)
  expect(list(null, 'x'.repeat(601))).toContain(
    `none → ${'x'.repeat(300)} … 1 character … ${'x'.repeat(300)}`,
  )
  expect(list(null, '')).toBe('a\nnone → (empty)\nb\nnone → (empty)')
  const left = { left: 1 }
  expect(list(1, 2, left)).toBe('a\n1 → 2\nand 1 more: [/rules/a/1] all of them')
  expect(left.left).toBeLessThan(0)
  expect(list(1, 2, { left: 0 })).toBe('and 2 more: [/rules/a/1] all of them')
  expect(openRoom()).toEqual({ left: 100_000 })
})

const moment = (at: string): Moment => ({ at, snapshot: null, account: null })
const PAIR = { from: moment('2026-01-02T00:00:00Z'), to: moment('2026-01-04T00:00:00Z') }
const first = (account: string, at: string) => ({ account, at: new Date(at) })

test('accounts that were first read after a moment are named, five at most, and the others counted', () => {
  const noticeOf = (count: number) => {
    const later = Array.from({ length: count }, (_, n) => first(`a${n + 1}`, '2026-01-03T00:00:00Z'))
    const notice = unreadNotice([first('early', '2026-01-02T00:00:00Z'), ...later], PAIR, 'UTC')
    return notice && textOf(`${notice}`)
  }
  const named = (n: number) => `Account a${n} was first read at [/at/THEN] THEN . `
  const five = `(notice warn) ${[1, 2, 3, 4, 5].map(named).join('')}`
  const end = 'What existed before is unknown: a first reading is one entry.'
  expect([noticeOf(0), noticeOf(1)]).toEqual([null, `(notice warn) ${named(1)}${end}`])
  expect(noticeOf(5)).toBe(`${five}${end}`)
  expect(noticeOf(6)).toBe(`${five}1 other account was also first read later. ${end}`)
  expect(noticeOf(7)).toBe(`${five}2 other accounts were also first read later. ${end}`)
})

test('nothing is known up to a moment if every account was first read later', () => {
  const [at, later] = [first('a', '2026-01-04T00:00:00Z'), first('b', '2026-01-04T00:00:00.001Z')]
  expect([isUnread([], PAIR), isUnread([at, later], PAIR), isUnread([later], PAIR)]).toEqual([
    false,
    false,
    true,
  ])
})

test('a moment that is to come is said to be', () => {
  const noticeAt = (now: string) => {
    const notice = futureNotice(PAIR, new Date(now), 'UTC')
    return notice && textOf(`${notice}`)
  }
  expect(noticeAt('2026-01-04T00:00:00Z')).toBeNull()
  expect(noticeAt('2026-01-02T00:00:00Z')).toBe(
    '(notice warn) The moment [/at/THEN] THEN is in the future, so the current state is shown for it.',
  )
  expect(noticeAt('2026-01-01T00:00:00Z')).toBe(
    '(notice warn) Both moments are in the future, so nothing is known about them.',
  )
})
