import { expect, test } from 'vitest'
import { openTestStore } from '#test/support/store.ts'
import { ask, fire, HOUR, insert, minutesAgo } from './ask.ts'

const shownAs = 'account what name began while_firing'

test('what was edited is shown with the last of several episodes that are near', async () => {
  await using store = await openTestStore()
  await insert(store, { name: 'before', from: 9 * HOUR, to: 100 })
  await insert(store, { name: 'after', from: 100 })
  await fire(store, { from: 140, to: 130 })
  await fire(store, { from: 125, to: 110 })
  expect(await ask(store, 'silenced', shownAs)).toEqual([['a', 'edited', 'after', minutesAgo(125), false]])
})

test('a rule that was disabled already and is edited while it fires was edited, not disabled', async () => {
  await using store = await openTestStore()
  await insert(store, { name: 'before', enabled: false, from: 9 * HOUR, to: 100 })
  await insert(store, { name: 'after', enabled: false, from: 100 })
  await fire(store, { from: 140 })
  expect(await ask(store, 'silenced', shownAs)).toEqual([['a', 'edited', 'after', minutesAgo(140), true]])
})

test('of two accounts that share an id, each has its own episodes and its own versions', async () => {
  await using store = await openTestStore()
  await insert(store, { name: 'of a', from: 9 * HOUR, to: 100 })
  await insert(store, { name: 'of a', enabled: false, from: 100 })
  await fire(store, { from: 140 })
  // It was edited later, and at the same moment; it fired later, and no more then.
  const other = { account: 'b', enabled: false }
  await insert(store, { ...other, name: 'of b', from: 9 * HOUR, to: 5 * HOUR })
  await insert(store, { ...other, name: 'edited of b', from: 5 * HOUR, to: 100 })
  await insert(store, { ...other, name: 'edited again', from: 100 })
  await fire(store, { account: 'b', from: 120, to: 110 })
  expect(await ask(store, 'silenced', `${shownAs} fields`)).toEqual([
    ['a', 'disabled', 'of a', minutesAgo(140), true, ['enabled']],
    ['b', 'edited', 'edited again', minutesAgo(120), false, ['name']],
  ])
})
