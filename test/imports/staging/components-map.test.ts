import { expect, test } from 'vitest'
import { readComponentsMap } from '#src/imports/staging/rules.ts'
import { fileHolding } from '#test/support/settings.ts'
import { NEVER } from '../options.ts'

const mapIn = (content: string) => readComponentsMap(fileHolding(content), NEVER)

test('a map of components may name a pair twice, and several old ids for one new id', async () => {
  expect(await mapIn('old-1,new-1\nold-2, new-1 \nold-1,new-1\n')).toEqual(
    new Map([
      ['old-1', 'new-1'],
      ['old-2', 'new-1'],
    ]),
  )
  expect(await mapIn('sep=;\nold-1;new-1')).toEqual(new Map([['old-1', 'new-1']]))
})

test.for([
  ['old-1,new-1\nold-1,new-2\n', 'Line 2 of .* maps a component that an earlier line maps to another id'],
  ['old-1,\n', 'Line 1 of .* has an empty id'],
  ['sep=,\nold-1,new-1\n ,new-2\n', 'Line 3 of .* has an empty id'],
  ['old-1,new-1\nold-2\n', 'Line 2 of .* is not a pair of ids'],
  [
    'old-1,4.1E+18\n',
    'Line 1 of .* has 4.1E\\+18 in column 2: the id was taken for a number, and may be rounded',
  ],
] as const)('a map of components with %j is refused, and the line is named', async ([content, message]) => {
  await expect(mapIn(content)).rejects.toThrow(new RegExp(message))
})
