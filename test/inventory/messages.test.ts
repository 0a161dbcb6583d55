import { expect, test } from 'vitest'
import {
  leftHeld,
  messageOn,
  notConfirmed,
  noteOn,
  notStored,
  skippedFor,
  timedOutAfter,
} from '#src/inventory/messages.ts'
import type { Removals } from '#src/inventory/publish/decide.ts'

const held = (ids: readonly string[], rejected: readonly string[]) =>
  messageOn({ kind: 'hold', ids, current: 20, rejected, foundGone: ids } as never, 9n)

const NEXT =
  'nothing was removed. See `ferry runs show 9`, then `ferry runs approve 9` or `ferry runs reject 9`.'

test('a hold says how many rows are gone, and which were kept by a decision before', () => {
  expect(held(['1', '2'], [])).toBe(`2 of 20 rows are gone from the listing; ${NEXT}`)
  expect(held(['1'], ['7'])).toBe(
    `1 more of 20 rows is gone from the listing; 1 other was kept by a decision on run 7; ${NEXT}`,
  )
  expect(held(['1', '2'], ['7', '8', '7'])).toBe(
    `2 more of 20 rows are gone from the listing; 3 others were kept by a decision on runs 7, 8; ${NEXT}`,
  )
})

test('rows that are not listed and stay are counted, with why they stay and what removes them', () => {
  const kept = (because: Extract<Removals, { kind: 'keep' }>['because'], absent: number) =>
    messageOn({ kind: 'keep', absent, because }, 9n)
  expect(messageOn({ kind: 'remove', ids: ['1'] }, 9n)).toBeNull()
  expect(messageOn({ kind: 'partial', why: 'folder 7 was not read' }, 9n)).toBe(
    'folder 7 was not read; nothing was removed.',
  )
  expect([kept('rejected', 1), kept('rejected', 2)]).toEqual([
    'one row is not listed and kept, because their removal was rejected; `--accept-removals` would remove them.',
    '2 rows are not listed and kept, because their removal was rejected; `--accept-removals` would remove them.',
  ])
  expect(kept('new scope', 3)).toBe(
    '3 rows stored before were not listed; the first run in a new scope removes nothing, nor does one while runs with another key or other settings come in between.',
  )
  expect(kept('held in another scope', 4)).toBe(
    '4 rows are not listed and kept, because they were held with another key or other settings, which may see more. The next sync looks again, and holds what is gone.',
  )
})

test('a preview says what would become of the rows that are not listed', () => {
  const hold = { kind: 'hold', ids: ['1'], current: 20, rejected: [] } as const
  const kept = { kind: 'keep', absent: 1 } as const
  const notes = [
    noteOn({ kind: 'remove', ids: ['1'] }),
    noteOn({ ...kept, because: 'rejected' }),
    noteOn({ ...kept, because: 'new scope' }),
    noteOn({ kind: 'partial', why: 'folder 7 was not read' }),
    noteOn(hold),
  ]
  expect(notes).toEqual([
    'the removals need a second listing that agrees',
    'the rows that are not listed would be kept, because their removal was rejected',
    'the first run in a new scope removes nothing, nor does one while runs with another key or other settings come in between',
    'folder 7 was not read: nothing would be removed',
    'the removals would be held for a person',
  ])
})

test('a run says what it left: rows that later runs hold, that no second listing confirmed, or that are not stored', () => {
  expect([leftHeld(1, 9n), leftHeld(2, 9n)]).toEqual([
    '1 row that only later runs hold stays held: `ferry runs show 9` shows them.',
    '2 rows that only later runs hold stay held: `ferry runs show 9` shows them.',
  ])
  expect([notConfirmed(2, null), notConfirmed(2, 'AccessDenied')]).toEqual([
    '2 rows were not listed, but the second listing was not complete',
    '2 rows were not listed, but the second listing failed: AccessDenied',
  ])
  expect([notStored(3, 3), notStored(3, 2)]).toEqual([
    null,
    'Of 3 rows that could not be read, 2 are stored.',
  ])
  expect(timedOutAfter(30)).toBe('the run took longer than 30 minutes; nothing was applied')
  expect(skippedFor('worker 7')).toBe('worker 7 was syncing this inventory; see `ferry runs list`')
})
