import { expect, test } from 'vitest'
import type { Cell } from '#src/db/list.ts'
import { BadQuery } from '#src/http/console/page.ts'
import { columnsOf } from '#src/http/console/parts/list-page.ts'
import { CursorId, CursorText, readCursor, writeCursor } from '#src/http/console/parts/paging.ts'
import { visible } from '#src/http/console/parts/visible.ts'

test('numbers of every kind, and how long something took, are aligned to the right', () => {
  const columns = {
    name: () => 'a',
    calls: () => 12_345,
    id: () => 12_345n,
    took: () => ({ ms: 61_000 }),
    at: () => new Date('2026-11-20T02:30:00Z'),
    isOn: () => true,
    end: (row: Cell) => row,
  }
  const rows = [null, 7]
  const shown = columnsOf({ columns }, ['name', 'calls', 'id', 'took', 'at', 'isOn', 'end'], rows, 'UTC')
  expect(shown.filter(column => column.isNumber).map(column => column.head)).toEqual([
    'Calls',
    'Id',
    'Took',
    'End',
  ])
  const [name, calls, id, took, , isOn, end] = shown.map(column => `${column.cell(null)}`)
  expect([name, calls, id, took, isOn]).toEqual(['<bdi>a</bdi>', '12,345', '12345', '1 min 1 s', 'true'])
  expect(end).toBe('<span class="none">–</span>')
})

test('text that says nothing is a dash', () => {
  expect([`${visible('')}`, `${visible(null)}`]).toEqual(Array(2).fill('<span class="none">–</span>'))
})

test.for([
  ['an id of 19 digits', CursorId, '1'.repeat(19)],
  ['an id with a sign', CursorId, '-1'],
  ['text of 10,001 characters', CursorText, 'x'.repeat(10_001)],
  ['text that Postgres cannot hold', CursorText, 'a\0b'],
] as const)('%s is no place in a list', ([, shape, value]) => {
  const query = new URLSearchParams({ after: writeCursor([value]) })
  const place = shape.array()
  expect(() => readCursor(query, place)).toThrow(BadQuery)
})

test('a place in a list is read as it was written, up to its longest values', () => {
  const query = new URLSearchParams({ after: writeCursor(['9'.repeat(18), 'x'.repeat(10_000)]) })
  expect(readCursor(query, CursorText.array())).toEqual(['9'.repeat(18), 'x'.repeat(10_000)])
  expect(CursorId.safeParse('9'.repeat(18)).success).toBe(true)
  expect(readCursor(new URLSearchParams(), CursorId)).toBe(null)
})
