import { expect, test } from 'vitest'
import { foreign, inZone, lasted, sentence } from '#src/http/console/parts/values.ts'
import { share } from '#src/model/counted.ts'

test.each([
  [0, 10_000, '0 %'],
  [1, 10_000, '< 1 %'],
  [100, 10_000, '1 %'],
  [9_900, 10_000, '99 %'],
  [9_999, 10_000, '> 99 %'],
  [10_000, 10_000, '100 %'],
  [0, 0, '0 %'],
])('%i of %i is %s', (part, whole, words) => {
  expect(share(part, whole)).toBe(words)
})

test('a time is written in the zone that is asked for, one after another', () => {
  const at = new Date('2026-11-20T02:30:05Z')
  const zones = ['UTC', 'Europe/Berlin', 'UTC', 'Asia/Kolkata']
  const [utc, berlin, kolkata] = ['02:30:05', '03:30:05', '08:00:05'].map(time => `2026-11-20 ${time}`)
  expect(zones.map(zone => inZone(at, zone))).toEqual([utc, berlin, utc, kolkata])
})

test('a name of others is set apart, cut if it is long, and said to be empty', () => {
  expect(`${foreign('<b>')}`).toBe('<bdi>&lt;b&gt;</bdi>')
  expect(`${foreign('')}`).toBe('<span class="none">(empty)</span>')
  expect(`${foreign(' \t')}`).toBe('<span class="none">(only spaces)</span>')
  expect(`${foreign(null, 'not known')}`).toBe('<span class="none">not known</span>')
  const long = '🧨'.repeat(101)
  expect(`${foreign(long)}`).toBe(`<bdi title="${long}">${'🧨'.repeat(100)}…</bdi>`)
})

test('how long something took is the time between its ends, and said to be missing until it has ended', () => {
  const [from, to] = [new Date('2026-11-20T02:30:00Z'), new Date('2026-11-20T04:00:00Z')]
  expect([lasted(from, to), lasted(from, null), lasted(from, null, 'no answer')]).toEqual([
    '1 h 30 min',
    '–',
    'no answer',
  ])
})

test('what stands between backticks in a sentence is a command, and a lone backtick is none of ours', () => {
  expect(`${sentence('Run `ferry <x>` or `ferry y`.')}`).toBe(
    '<bdi>Run <code>ferry &lt;x&gt;</code> or <code>ferry y</code>.</bdi>',
  )
  expect(`${sentence('A lone ` of others')}`).toBe('<bdi>A lone ` of others</bdi>')
})
