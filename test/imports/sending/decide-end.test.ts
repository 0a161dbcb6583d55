import { expect, test } from 'vitest'
import { LARGEST_FIRST_AFTER } from '#src/imports/sending/decide.ts'
import { decideEnd, type Remainder } from '#src/imports/sending/decide-end.ts'
import { IMPORT_STATUSES } from '#src/model/import.ts'

const NOTHING: Remainder = {
  status: 'running',
  inFlightMs: null,
  hasReadyBatch: false,
  suspects: 0,
  heldRows: 0,
  hasMoreRows: false,
  firstRows: null,
}

test('an import of which nothing is left is completed, or undecided if rows are held', () => {
  expect(decideEnd(NOTHING)).toEqual({ to: 'completed' })
  expect(decideEnd({ ...NOTHING, heldRows: 1 })).toEqual({ to: 'undecided' })
})

test('nothing is decided about an import that is not running', () => {
  for (const status of IMPORT_STATUSES.filter(status => status !== 'running')) {
    expect(decideEnd({ ...NOTHING, status })).toEqual({ to: 'ended' })
    expect(decideEnd({ ...NOTHING, status, inFlightMs: 5, suspects: 1 })).toEqual({ to: 'ended' })
  }
})

test('a call in flight is waited for before anything else is decided', () => {
  const busy = { ...NOTHING, inFlightMs: 40, suspects: 1, hasMoreRows: true, firstRows: 2 }
  expect(decideEnd(busy)).toEqual({ to: 'wait', waitMs: 40 })
})

test('what can be claimed is claimed, then the suspects are decided about', () => {
  expect(decideEnd({ ...NOTHING, hasReadyBatch: true, suspects: 1 })).toEqual({ to: 'claim' })
  expect(decideEnd({ ...NOTHING, suspects: 1, hasMoreRows: true })).toEqual({ to: 'suspects' })
})

test('rows beyond the first ones pause the import; without first rows they are claimed', () => {
  const more = { ...NOTHING, hasMoreRows: true, heldRows: 3 }
  expect(decideEnd({ ...more, firstRows: 5 })).toEqual({ to: 'pause', firstRows: 5 })
  expect(decideEnd(more)).toEqual({ to: 'claim' })
})

test('the largest batch is tried three refusals before the import would be paused', () => {
  expect(LARGEST_FIRST_AFTER).toBe(9)
})
