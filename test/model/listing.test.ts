import { expect, test } from 'vitest'
import { hasUnreadableId, joinListings, type Listing } from '#src/model/listing.ts'

const EMPTY: Listing<string> = { rows: [], altered: new Map(), quarantined: [], drift: [] }
const aside = (position: number, id: string | null = null) => ({ position, id, reason: 'broken', raw: null })

function join(...listings: readonly Partial<Listing<string>>[]): Listing<string> {
  return joinListings(
    listings.map(listing => ({ ...EMPTY, ...listing })),
    row => row,
  )
}

test('positions are counted through, rows set aside included', () => {
  const joined = join(
    { rows: ['a', 'b'], quarantined: [aside(2)] },
    { rows: ['c'], quarantined: [aside(0), aside(2)] },
    { quarantined: [aside(0)] },
  )
  expect(joined.rows).toEqual(['a', 'b', 'c'])
  expect(joined.quarantined.map(row => row.position)).toEqual([2, 3, 5, 6])
})

test('an id that an earlier listing has is set aside at its place, and what was altered stays with its row', () => {
  const joined = join(
    { rows: ['a', 'b'], altered: new Map([[1, ['name']]]) },
    {
      rows: ['a', 'c', 'd'],
      altered: new Map([
        [0, ['of the second a']],
        [2, ['labels']],
      ]),
    },
  )
  expect(joined.rows).toEqual(['a', 'b', 'c', 'd'])
  expect(joined.quarantined).toMatchObject([
    { position: 2, id: 'a', reason: expect.stringContaining('another folder') },
  ])
  expect([...joined.altered]).toEqual([
    [1, ['name']],
    [3, ['labels']],
  ])
})

test('drift is told once for each field and type', () => {
  const env = { field: 'env', type: 'object' }
  const text = { field: 'env', type: 'string' }
  expect(join({ drift: [env] }, { drift: [env, text] }).drift).toEqual([env, text])
})

test('a listing has an unreadable id only where a row was set aside without one', () => {
  expect(hasUnreadableId({ quarantined: [] })).toBe(false)
  expect(hasUnreadableId({ quarantined: [aside(0, '1')] })).toBe(false)
  expect(hasUnreadableId({ quarantined: [aside(0, '1'), aside(1)] })).toBe(true)
})
