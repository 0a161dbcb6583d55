import { expect, test } from 'vitest'
import { createWorkLimit } from '#src/model/work-limit.ts'

test('as many as the limit run at once, the others in their order, each as soon as one ends, well or not', async () => {
  const limit = createWorkLimit(2)
  const begun: number[] = []
  const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<void>())
  const all = ends.map(({ promise }, n) =>
    limit(() => {
      begun.push(n)
      return promise
    }),
  )
  expect(begun).toEqual([0, 1])
  ends[1]?.reject(new Error('no answer'))
  await expect(all[1]).rejects.toThrow('no answer')
  ends[0]?.resolve()
  await all[0]
  expect(begun).toEqual([0, 1, 2, 3])
  for (const { resolve } of ends) resolve()
  await Promise.all([all[2], all[3]])
})

test('a place that nobody waited for is free again', async () => {
  const limit = createWorkLimit(1)
  expect(await limit(async () => 'first')).toBe('first')
  let isBegun = false
  const second = limit(async () => {
    isBegun = true
  })
  expect(isBegun).toBe(true)
  await second
})

test('who gives up does not wait any longer, and leaves its turn to the next', async () => {
  const limit = createWorkLimit(1)
  const first = Promise.withResolvers<void>()
  const begun: string[] = []
  const running = limit(() => first.promise)
  const stop = new AbortController()
  const begin = (name: string) => async () => void begun.push(name)
  const given = limit(begin('given up'), stop.signal)
  const next = limit(begin('next'), new AbortController().signal)
  stop.abort(new Error('no more time'))
  await expect(given).rejects.toThrow('no more time')
  await expect(limit(begin('too late'), stop.signal)).rejects.toThrow('no more time')
  first.resolve()
  await Promise.all([running, next])
  expect(begun).toEqual(['next'])
  expect(limit.hasRoom()).toBe(true)
})
