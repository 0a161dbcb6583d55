import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { gather } from '#src/db/permit-queue.ts'

/** A `gather` whose work ends when the test says so. */
function setup() {
  const rounds: { items: readonly string[]; end: PromiseWithResolvers<void> }[] = []
  const add = gather<string>(items => {
    const end = Promise.withResolvers<void>()
    rounds.push({ items, end })
    return end.promise
  })
  const worked = () => rounds.map(({ items }) => items.join(''))
  const begun = (count: number) => expect.poll(() => rounds.length).toBe(count)
  return { add, rounds, worked, begun }
}

test('items of one moment are worked on together, those that come meanwhile together after them', async () => {
  const { add, rounds, worked, begun } = setup()
  const first = [add('a'), add('b')]
  await begun(1)
  const second = [add('c'), add('d'), add('e')]
  await nextTurn()
  expect(worked()).toEqual(['ab'])
  rounds[0]!.end.resolve()
  await Promise.all(first)
  await begun(2)
  expect(worked()).toEqual(['ab', 'cde'])
  rounds[1]!.end.resolve()
  await Promise.all(second)
})

test('an error is that of the items it happened to, and of no others', async () => {
  const { add, rounds, begun } = setup()
  const first = add('a')
  await begun(1)
  const second = add('b')
  rounds[0]!.end.reject(new Error('the first round failed'))
  await expect(first).rejects.toThrow('the first round failed')
  await begun(2)
  rounds[1]!.end.resolve()
  await expect(second).resolves.toBeUndefined()
})
