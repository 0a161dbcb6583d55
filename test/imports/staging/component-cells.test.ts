import { expect, test } from 'vitest'
import { componentsOf } from '#src/imports/staging/checks/values.ts'

test.for([
  [
    [{ component_id: 7 }, { component_id: 'c2', name: 'x' }],
    ['7', 'c2'],
  ],
  [
    ['c1', 2],
    ['c1', '2'],
  ],
  [
    ['c1', { component_id: 'c2' }],
    ['c1', 'c2'],
  ],
] as const)('the members %j of a list whose objects have the id as a key are %j', ([list, ids]) => {
  for (const cell of [list, JSON.stringify(list)]) {
    expect(componentsOf(cell, 'component_id')).toEqual({ ids, isList: true })
  }
})

test.for([[[{ id: 7 }]], [[null]], [['c1', true]]])('the list %j has a member without an id', ([list]) => {
  expect(componentsOf(list, 'component_id')).toBeNull()
})

test.each([true, false, 1.5])('%s is no component', cell => {
  expect(componentsOf(cell, undefined)).toBeNull()
})
