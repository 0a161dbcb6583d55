import { expect, test } from 'vitest'
import { strip } from '#src/cli/at.ts'

const at = (minutes: number) => new Date(minutes * 60_000)
const drawAt = (now: number, ...blind: readonly (readonly [Date | null, Date | null])[]) =>
  strip(
    blind.map(([since, observedAt]) => ({ since, observedAt })),
    at(60).getTime(),
    49 * 60_000,
    at(now).getTime(),
  )
const draw = drawAt.bind(null, 200)

test('each part of the time is read or not known, with the moment in the middle', () => {
  // 98 minutes around the 60th, two for each character.
  expect(draw([at(11), at(15)])).toBe(`??${'-'.repeat(22)}|${'-'.repeat(24)}`)
  expect(draw([at(14), at(15)])).toBe(`-?${'-'.repeat(22)}|${'-'.repeat(24)}`)
  expect(draw([null, at(13)], [at(107), null])).toBe(`?${'-'.repeat(23)}|${'-'.repeat(23)}?`)
  expect(draw([null, null])).toBe(`${'?'.repeat(24)}|${'?'.repeat(24)}`)
})

test('time that is still to come is neither', () => {
  expect(drawAt(100, [at(11), at(15)])).toBe(`??${'-'.repeat(22)}|${'-'.repeat(20)}    `)
  expect(drawAt(60, [at(50), null])).toBe(`${'-'.repeat(19)}${'?'.repeat(5)}|${' '.repeat(24)}`)
})
