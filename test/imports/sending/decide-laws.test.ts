import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decide, decideSuspects } from '#src/imports/sending/decide.ts'
import type { ImportState, PlatformResponse } from '#src/imports/sending/decision.ts'
import {
  brokenContract,
  type Refusal,
  refusedByPlatform,
  refusedWithoutEnvelope,
} from '#src/platform/refusal.ts'
import { ACCEPTED, noAnswer, origin, refused, STATE, said, UNSENT } from '../outcomes.ts'

test('whatever the platform answers, an import ends or pauses within bounds, with each row sent or rejected once', () => {
  const answers = [
    said('ServiceUnavailable', 503),
    said('RequestTooFrequently', 429),
    said('InternalError', 500),
    said('EntityTooLarge', 413),
    said('InvalidParameter', 400),
    said('Unauthorized', 401),
    noAnswer(null, 'reset'),
    UNSENT,
  ]
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { maxLength: 12 }),
      fc.infiniteStream(fc.option(fc.constantFrom(...answers), { freq: 3 })),
      fc.boolean(),
      fc.boolean(),
      (size, poison, trouble, resend, names) => {
        const rows = Array.from({ length: size }, (_, line) => BigInt(line))
        const outcome = play(rows, new Set(poison.map(BigInt)), trouble, { resend, names })
        expect(outcome.everywhere.toSorted(byNumber)).toEqual(rows)
        for (const line of outcome.rejected) expect(outcome.delivered.has(line)).toBe(false)
        for (const line of outcome.sent) expect(outcome.delivered.has(line)).toBe(true)
      },
    ),
    { numRuns: 300 },
  )
})

test('whatever is state and whatever is answered, a decision keeps every row and no count leaves its bounds', () => {
  fc.assert(
    fc.property(
      anyBatch,
      anyResponse,
      anyState,
      ({ rows, setAside, proven, resends, refusedAlone }, { refusal, names, isWrongPage }, state) => {
        const sent = Array.from({ length: rows }, (_, line) => BigInt(line)).filter(
          line => !setAside.includes(line),
        )
        const named = sent.slice(0, names)
        const response: PlatformResponse = refusal
          ? { kind: 'refused', refusal, namedLines: named, isWrongPage }
          : ACCEPTED
        const decision = decide({ rows, setAside, proven, resends, refusedAlone }, response, state)
        const { disposition, pause } = decision

        expect(decision.accepted).toBe(state.accepted + (refusal ? 0 : 1))
        expect(decision.unaccepted).toBeGreaterThanOrEqual(0)
        expect(decision.unaccepted).toBeLessThan(12)
        expect(decision.failures).toBeGreaterThanOrEqual(0)
        expect(decision.failures).toBeLessThan(10)
        expect(decision.maxRows ?? 1).toBeGreaterThanOrEqual(1)
        expect(decision.maxRejects).toBeGreaterThanOrEqual(state.maxRejects)
        if (decision.retryAfterMs !== null) {
          expect(decision.retryAfterMs).toBeGreaterThanOrEqual(1_000)
          expect(decision.retryAfterMs).toBeLessThanOrEqual(600_000)
        }
        // A person who resumes it finds it as if nothing had gone wrong.
        if (pause) expect(decision).toMatchObject({ unaccepted: 0, failures: 0, retryAfterMs: null })

        expect(disposition.to === 'sent').toBe(refusal === null)
        if (disposition.to === 'split') expect(rows).toBeGreaterThan(1)
        if (disposition.to === 'suspect') expect(rows).toBe(1)
        if (disposition.to === 'rejected')
          expect(rows === 1 && (refusedAlone === refusal?.code || refusal?.kind === 'too-large')).toBe(true)
        if (refusal?.certain && refusal.kind === 'invalid-request' && isWrongPage) expect(pause).toBe('page')
        if (disposition.to === 'uncertain') expect(state.resend).toBe(false)
        if (disposition.to === 'ready') {
          expect(new Set(disposition.setAside).size).toBe(disposition.setAside.length)
          expect(disposition.setAside.length).toBeLessThan(rows)
          expect(disposition.setAside).toEqual(expect.arrayContaining([...setAside]))
          expect([...setAside, ...named]).toEqual(expect.arrayContaining([...disposition.setAside]))
          if (disposition.resent) expect(state.resend).toBe(true)
        }
        // What may have been applied is never taken for refused, and what was refused for certain never for uncertain.
        if (refusal && !refusal.certain)
          expect(disposition.to === 'uncertain' || ('resent' in disposition && disposition.resent)).toBe(true)
        if (refusal?.httpStatus === 429) expect(disposition).toEqual({ to: 'ready', setAside, resent: false })
      },
    ),
    { numRuns: 2_000 },
  )
})

const anyBatch = fc.integer({ min: 1, max: 12 }).chain(rows =>
  fc.record({
    rows: fc.constant(rows),
    refusedAlone: rows === 1 ? fc.constantFrom(null, 'InvalidParameter', 'New') : fc.constant(null),
    setAside: fc
      .uniqueArray(fc.integer({ min: 0, max: rows - 1 }), { maxLength: rows - 1 })
      .map(lines => lines.map(BigInt)),
    proven: fc.nat({ max: rows - 1 }),
    resends: fc.nat({ max: 20 }),
  }),
)

const anyResponse = fc.record({
  refusal: fc.option(
    fc.oneof(
      fc
        .tuple(
          fc.constantFrom(
            'InvalidParameter',
            'ResourceNotFound',
            'InternalError',
            'RequestLocked',
            'New',
            'EntityTooLarge',
          ),
          fc.constantFrom(200, 400, 401, 409, 413, 423, 429, 500, 502, 503),
          fc.option(fc.nat({ max: 10 ** 9 })),
          fc.constantFrom('r', null),
        )
        .map(([code, status, retryMs, requestId]) =>
          refusedByPlatform({ ...origin(status, retryMs), requestId }, code, 'No.'),
        ),
      fc.constantFrom(
        noAnswer(null, 'reset'),
        noAnswer(429, 'cut'),
        UNSENT,
        brokenContract(origin(200), 'x'),
      ),
      fc
        .constantFrom(200, 404, 407, 413, 429, 503)
        .map(status => refusedWithoutEnvelope(origin(status), 'text/html')),
    ),
  ),
  names: fc.nat({ max: 3 }),
  isWrongPage: fc.boolean(),
})

const anyState: fc.Arbitrary<ImportState> = fc.record({
  resend: fc.boolean(),
  accepted: fc.constantFrom(0, 1, 40),
  unaccepted: fc.nat({ max: 11 }),
  failures: fc.nat({ max: 9 }),
  maxRows: fc.option(fc.integer({ min: 1, max: 20 })),
  maxRejects: fc.constantFrom(10, 24),
  sent: fc.nat({ max: 5_000 }),
  rejected: fc.nat({ max: 24 }),
})

/** Plays an import of one batch against a platform that refuses bodies with poison in them, and has other troubles. */
function play(
  rows: readonly bigint[],
  poison: ReadonlySet<bigint>,
  trouble: Iterator<Refusal | null>,
  { resend, names }: { resend: boolean; names: boolean },
) {
  const ready = [
    { lines: rows, setAside: [] as readonly bigint[], resends: 0, refusedAlone: null as string | null },
  ]
  const sent: bigint[] = []
  const rejected: bigint[] = []
  const held: bigint[] = []
  const suspects: { line: bigint; code: string }[] = []
  const halved: (readonly bigint[])[] = []
  const delivered = new Set<bigint>()
  let state: ImportState = { ...STATE, resend, accepted: 0, sent: 0 }
  let paused = false
  const retry = () => {
    for (const { line, code } of suspects.splice(0))
      ready.push({ lines: [line], setAside: [], resends: 0, refusedAlone: code })
  }
  /** Rows were accepted of a batch that was refused with the line, and none was rejected. */
  const isAmongSent = (line: bigint) =>
    halved.some(
      lines =>
        lines.includes(line) &&
        lines.some(one => sent.includes(one)) &&
        !lines.some(one => rejected.includes(one)),
    )
  for (let calls = 0; !paused && calls < 2_000; calls++) {
    if (ready.length === 0) {
      if (suspects.length === 0) break
      paused = decideSuspects(state, suspects.filter(({ line }) => isAmongSent(line)).length).pause !== null
      if (!paused) retry()
      continue
    }
    const batch = ready.pop()!
    const body = batch.lines.filter(line => !batch.setAside.includes(line))
    const bad = body.filter(line => poison.has(line))
    const fault = trouble.next().value as Refusal | null
    const works = bad.length === 0 && (fault === null || !fault.certain)
    if (works) for (const line of body) delivered.add(line)
    const named = names ? bad.slice(0, 1) : []
    // A refusal for no reason at all happens to whole batches only: a row it is held against would be a wrong reject.
    const isUnfair = fault?.kind === 'invalid-request' || fault?.kind === 'too-large'
    const response: PlatformResponse =
      fault && !(isUnfair && body.length < 5)
        ? refused(fault)
        : bad.length > 0
          ? refused(said('InvalidParameter', 400), ...named)
          : ACCEPTED
    if (response.kind === 'accepted') for (const line of body) delivered.add(line)
    const decision = decide(
      { ...batch, rows: batch.lines.length, proven: batch.setAside.length },
      response,
      state,
    )
    const { disposition } = decision
    const resends = batch.resends + Number('resent' in disposition && disposition.resent)
    if (disposition.to === 'ready') ready.push({ ...batch, setAside: disposition.setAside, resends })
    if (disposition.to === 'uncertain') held.push(...batch.lines)
    if (disposition.to === 'rejected') rejected.push(...batch.lines)
    if (disposition.to === 'suspect' && response.kind === 'refused')
      suspects.push({ line: batch.lines[0]!, code: response.refusal.code })
    if (disposition.to === 'split') {
      halved.push(batch.lines)
      const half = Math.floor(batch.lines.length / 2)
      for (const lines of [batch.lines.slice(half), batch.lines.slice(0, half)])
        ready.push({ lines, setAside: [], resends, refusedAlone: null })
    }
    if (disposition.to === 'sent') {
      sent.push(...body)
      rejected.push(...batch.setAside)
      retry()
    }
    state = { ...state, ...decision, sent: sent.length, rejected: rejected.length }
    paused = decision.pause !== null
  }
  const left = ready.flatMap(batch => [...batch.lines])
  if (left.length > 0 && !paused) throw new Error('it never ends')
  return {
    sent,
    rejected,
    delivered,
    everywhere: [...sent, ...rejected, ...held, ...suspects.map(one => one.line), ...left],
  }
}

function byNumber(a: bigint, b: bigint): number {
  return a < b ? -1 : 1
}
