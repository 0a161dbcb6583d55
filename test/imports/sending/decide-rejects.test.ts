import { describe, expect, test } from 'vitest'
import { decide, decideSuspects } from '#src/imports/sending/decide.ts'
import { ACCEPTED, AGAIN, BAD_ROWS, BATCH, refused, STATE, said, TOO_LARGE } from '../outcomes.ts'

describe('a row refused', () => {
  const ROW = { ...BATCH, rows: 1 }

  test('alone is a suspect, and a reject if it is refused alone again with the same code', () => {
    for (const names of [[], [7n]]) {
      const response = refused(said('InvalidParameter', 400), ...names)
      const alone = (refusedAlone: string | null) =>
        decide({ ...ROW, refusedAlone }, response, STATE).disposition
      expect(alone(null)).toEqual({ to: 'suspect' })
      expect(alone('ResourceNotFound')).toEqual({ to: 'suspect' })
      expect(alone('InvalidParameter')).toEqual({ to: 'rejected' })
    }
  })

  test('with all others of its batch, by name, is looked at alone', () => {
    const naming = refused(said('InvalidParameter', 400), 9n)
    expect(decide({ ...BATCH, rows: 3, setAside: [7n, 8n], proven: 2 }, naming, STATE).disposition).toEqual({
      to: 'split',
      resent: false,
    })
  })

  test('alone pauses the import when nothing else is left, unless it is sent once more', () => {
    expect(decideSuspects(STATE, 1)).toMatchObject({ pause: null })
    expect(decideSuspects(STATE, 0)).toMatchObject({ pause: 'suspects', unaccepted: 0, failures: 0 })
  })

  test('after eleven refusals in a row pauses the import and is no reject', () => {
    const doubtful = { ...STATE, unaccepted: 11 }
    for (const response of [BAD_ROWS, TOO_LARGE]) {
      expect(decide(ROW, response, doubtful)).toMatchObject({
        disposition: AGAIN,
        pause: 'unaccepted',
        unaccepted: 0,
      })
    }
  })

  test('by name counts towards the twelve only if nothing was accepted yet, or the batch named others thrice', () => {
    const naming = refused(said('InvalidParameter', 400), 9n)
    const counted = (setAside: bigint[], accepted: number) =>
      decide({ ...BATCH, setAside }, naming, {
        ...STATE,
        accepted,
      }).unaccepted
    expect(counted([], 5)).toBe(0)
    expect(counted([1n, 2n, 3n], 5)).toBe(1)
    expect(counted([], 0)).toBe(1)
  })
})

describe('rejects of more than ten rows and 1 %', () => {
  const nine = { ...STATE, sent: 980, rejected: 9 }

  test('pause the import: those proven are rejects all the same', () => {
    const decision = decide({ ...BATCH, rows: 5, setAside: [1n, 2n], proven: 2 }, ACCEPTED, nine)
    expect(decision).toMatchObject({ disposition: { to: 'sent' }, pause: 'rejects', maxRejects: 22 })
    expect(decide({ ...BATCH, rows: 5, setAside: [1n], proven: 1 }, ACCEPTED, nine).pause).toBe(null)
    expect(
      decide({ ...BATCH, rows: 5, setAside: [1n, 2n], proven: 2 }, ACCEPTED, {
        ...nine,
        sent: 1_500,
      }).pause,
    ).toBe(null)
    // Those that are to be refused alone as well are no rejects yet.
    expect(decide({ ...BATCH, rows: 5, setAside: [1n, 2n], proven: 1 }, ACCEPTED, nine).pause).toBe(null)
    // The rows that this call has sent count as sent.
    expect(
      decide({ ...BATCH, rows: 202, setAside: [1n, 2n], proven: 2 }, ACCEPTED, {
        ...nine,
        sent: 900,
      }).pause,
    ).toBe(null)
  })

  test('pause the import, and a row that is proven wrong just then is not rejected', () => {
    const row = { ...BATCH, rows: 1, refusedAlone: 'BadRequest' }
    const decision = decide(row, refused(said('BadRequest', 400)), { ...nine, rejected: 10 })
    expect(decision).toMatchObject({ disposition: AGAIN, pause: 'rejects', maxRejects: 22 })
  })

  test('do so again only after as many more, once a person has resumed it', () => {
    const resumed = { ...nine, rejected: 11, maxRejects: 22 }
    expect(decide({ ...BATCH, rows: 5, setAside: [1n], proven: 1 }, ACCEPTED, resumed).pause).toBe(null)
  })
})
