import { expect, test } from 'vitest'
import { Turns } from '#src/platform/post.ts'

test('who waits for a turn at the same moment gets one each, in their order, and other work goes on between them', async () => {
  let turn = 0
  let isOver = false
  const count = () => {
    turn += 1
    if (!isOver) setImmediate(count)
  }
  count()
  const turns = new Turns()
  const taken: { who: string; turn: number }[] = []
  const take = async (who: string) => {
    await turns.next()
    taken.push({ who, turn })
  }
  await Promise.all(['a', 'b', 'c'].map(take))
  isOver = true
  expect(taken.map(({ who }) => who)).toEqual(['a', 'b', 'c'])
  expect(new Set(taken.map(taker => taker.turn)).size).toBe(3)
})
