import { describe, expect, test } from 'vitest'
import { ENDED_STATUSES, IMPORT_STATUSES, type ImportStatus, isActive } from '#src/model/import.ts'
import {
  FIRST_STATUS,
  IMPORT_ACTIONS,
  IMPORT_EVENTS,
  type ImportEvent,
  isAllowed,
  LEFT,
  type Left,
  moveOf,
} from '#src/model/import-moves.ts'

/** Every event in every status, whatever is left. */
const CASES = IMPORT_STATUSES.flatMap(status =>
  LEFT.flatMap(left =>
    IMPORT_EVENTS.map(event => ({ status, left, event, move: moveOf(event, { status, left }) })),
  ),
)

function statusesThatAllow(event: ImportEvent): ImportStatus[] {
  return IMPORT_STATUSES.filter(status =>
    CASES.some(one => one.status === status && one.event === event && 'to' in one.move),
  )
}

describe('the moves of an import', () => {
  test('answer every event in every status: with a status, or with why not', () => {
    for (const { move } of CASES) {
      if ('to' in move) expect(IMPORT_STATUSES).toContain(move.to)
      else expect(move.refused).toMatch(/^(its?|only) .*[^.]$/)
    }
  })

  test('are these, and each other event is refused with the same words in every status', () => {
    const moves = IMPORT_EVENTS.flatMap(event =>
      IMPORT_STATUSES.flatMap(status => {
        const ends = LEFT.map(left => moveOf(event, { status, left })).map(move =>
          'to' in move ? move.to : null,
        )
        if (ends.every(to => to === null)) return []
        const isOne = new Set(ends).size === 1
        const told = isOne ? ends[0] : LEFT.map((left, n) => `${left} ${ends[n] ?? 'refused'}`).join(', ')
        return [`${event} ${status}: ${told}`]
      }),
    )
    expect(moves).toEqual([
      'confirm staging: file refused, rows queued, uncertain refused, nothing completed',
      'pause queued: paused',
      'pause running: paused',
      'resume paused: queued',
      'cancel staging: cancelled',
      'cancel queued: cancelled',
      'cancel running: cancelled',
      'cancel paused: cancelled',
      'cancel undecided: cancelled',
      'resolve queued: queued',
      'resolve running: running',
      'resolve paused: paused',
      'resolve undecided: file undecided, rows queued, uncertain undecided, nothing completed',
      'resolve cancelled: cancelled',
      'purge completed: completed',
      'purge cancelled: cancelled',
      'start queued: running',
      'start running: running',
      'stop queued: paused',
      'stop running: paused',
      'stop paused: paused',
      'exhaust running: file refused, rows paused, uncertain undecided, nothing completed',
    ])
    const refusals = new Set(
      CASES.flatMap(({ event, move }) => ('refused' in move ? [`${event}: ${move.refused}`] : [])),
    )
    expect([...refusals].toSorted()).toEqual([
      'cancel: it has ended already',
      'confirm: its file is still being read; wait until that is done, or import it again',
      'confirm: only a staged import can be confirmed',
      'exhaust: it is not running',
      'pause: only a queued or running import can be paused',
      'purge: its recipients are still needed',
      'resolve: it has no uncertain batch',
      'resolve: it has no uncertain batch; if another import was paused because of it, resume that one',
      'resume: only a paused import can be resumed',
      'start: only a queued or running import can be sent',
      'stop: only an import that is sent can be stopped',
    ])
  })

  test('let an ended import stay as it is: only its doubts and its recipients can still be decided about', () => {
    const kept = CASES.filter(({ status, move }) => ENDED_STATUSES.includes(status) && 'to' in move)
    expect(new Set(kept.map(({ status, event }) => `${status}: ${event}`))).toEqual(
      new Set(['completed: purge', 'cancelled: purge', 'cancelled: resolve']),
    )
    for (const { status, move } of kept) expect(move).toEqual({ to: status })
  })

  test('complete an import exactly when nothing is left of it', () => {
    const ways = CASES.filter(
      ({ status, move }) => status !== 'completed' && 'to' in move && move.to === 'completed',
    )
    expect(ways.map(({ status, event, left }) => [status, event, left])).toEqual([
      ['staging', 'confirm', 'nothing'],
      ['running', 'exhaust', 'nothing'],
      ['undecided', 'resolve', 'nothing'],
    ])
  })

  test('agree with what counts as active, ended and first', () => {
    expect(statusesThatAllow('start')).toEqual(IMPORT_STATUSES.filter(isActive))
    expect(statusesThatAllow('cancel')).toEqual(
      IMPORT_STATUSES.filter(status => !ENDED_STATUSES.includes(status)),
    )
    expect(statusesThatAllow('confirm')).toEqual([FIRST_STATUS])
  })

  test('depend on what is left only in confirming, exhausting and resolving', () => {
    const depends = IMPORT_EVENTS.filter(event =>
      IMPORT_STATUSES.some(
        status => new Set(LEFT.map(left => JSON.stringify(moveOf(event, { status, left })))).size > 1,
      ),
    )
    expect(depends).toEqual(['confirm', 'resolve', 'exhaust'])
  })

  test('lead from the first status to every other, and never out of an end', () => {
    const next = (status: ImportStatus) =>
      IMPORT_EVENTS.flatMap(event => LEFT.map(left => moveOf(event, { status, left }))).flatMap(move =>
        'to' in move ? [move.to] : [],
      )
    const reached = new Set<ImportStatus>([FIRST_STATUS])
    for (const status of reached) for (const to of next(status)) reached.add(to)
    expect([...reached].toSorted()).toEqual([...IMPORT_STATUSES].toSorted())
    for (const status of ENDED_STATUSES) expect(new Set(next(status))).toEqual(new Set([status]))
  })
})

describe('a decision', () => {
  const decidable = { stagedAt: new Date(), uncertain: 3 }

  test('is allowed where the table moves the import, or leaves it as it is', () => {
    for (const action of IMPORT_ACTIONS) {
      const allowed = IMPORT_STATUSES.filter(status => isAllowed(action, { ...decidable, status }))
      expect([action, allowed]).toEqual([action, statusesThatAllow(action)])
    }
  })

  test('to confirm waits for the file, and one about uncertain rows needs some', () => {
    const left: Left = 'file'
    expect(moveOf('confirm', { status: 'staging', left })).toEqual({
      refused: 'its file is still being read; wait until that is done, or import it again',
    })
    expect(isAllowed('confirm', { ...decidable, status: 'staging', stagedAt: null })).toBe(false)
    expect(isAllowed('cancel', { ...decidable, status: 'staging', stagedAt: null })).toBe(true)
    expect(isAllowed('resolve', { ...decidable, status: 'undecided', uncertain: 0 })).toBe(false)
  })
})
