import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { cancelImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { ADA } from '#test/support/acted-by.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { OTHER_PAGE, openImportHarness } from '../import-harness.ts'

test('everybody is sent once, in batches, and the import completes', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 25, batchRows: 10 })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 25 })
  expect(await harness.batches(id)).toMatchObject([
    { rows: 10, state: 'sent', from_line: '2', to_line: '11' },
    { rows: 10, state: 'sent' },
    { rows: 5, state: 'sent' },
  ])
  expect(harness.calls()).toBe(3)
  const row = await harness.importRow(id)
  expect(row).toMatchObject({ status: 'completed', accepted: 3, finished_at: expect.any(Date) })
})

test('an import that is over, paused or not confirmed is left alone', async () => {
  await using harness = await openImportHarness()
  const ends = [
    ['completed', 'completed'],
    ['cancelled', 'cancelled'],
    ['paused', 'paused'],
    ['undecided', 'undecided'],
    ['staging', 'waiting'],
  ] as const
  for (const [page, [status, end]] of ends.entries()) {
    expect(await harness.work(await harness.stage({ status, pageId: BigInt(page) }))).toBe(end)
  }
  expect(harness.calls()).toBe(0)
  await expect(harness.work(999n)).rejects.toThrow('there is no import 999')
})

test('an import of nobody who is not sent already completes without a call', async () => {
  await using harness = await openImportHarness()
  await harness.stage({ rows: 3, status: 'completed' })
  const id = await harness.stage({ rows: 3 })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.calls()).toBe(0)
})

test('settings travel as they were staged, component ids only if not all are meant', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({
    rows: 2,
    settings: line => (line === 3 ? { componentIds: ['A', 'B'], locale: 'de-DE' } : {}),
  })
  const bodies: unknown[] = []
  harness.sandbox.state.onCall(({ body }) => {
    bodies.push(body)
    return undefined
  })
  await harness.work(id)
  expect(bodies).toEqual([
    {
      page_id: Number(SANDBOX_PAGE_ID),
      method: 'email',
      subscribers: [
        { recipient: 'p2@example.com', all: true, locale: 'en-US' },
        { recipient: 'p3@example.com', all: false, component_ids: ['A', 'B'], locale: 'de-DE' },
      ],
    },
  ])
})

test('a batch is no longer than a megabyte', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 40, settings: () => ({ componentIds: ['x'.repeat(100_000)] }) })
  expect(await harness.work(id)).toBe('completed')
  expect((await harness.batches(id)).map(batch => batch.rows)).toEqual([9, 9, 9, 9, 4])
})

test('one call is in flight until the platform has accepted one, then four', async () => {
  await using harness = await openImportHarness()
  const flights: number[] = []
  const four = Promise.withResolvers<void>()
  let inFlight = 0
  harness.sandbox.state.onCall(async () => {
    inFlight += 1
    flights.push(inFlight)
    if (inFlight === 4) four.resolve()
    // Once they may, they wait for each other; the bound is for the case that they do not.
    if (flights.length > 2) await Promise.race([four.promise, delay(15_000, undefined, { ref: false })])
    inFlight -= 1
    return undefined
  })
  const id = await harness.stage({ rows: 14, batchRows: 1 })
  await harness.work(id)
  expect(flights.slice(0, 2)).toEqual([1, 1])
  expect(Math.max(...flights)).toBe(4)
})

test('imports of one page go one after another, oldest first', async () => {
  await using harness = await openImportHarness()
  const [first, second] = [await harness.stage({ rows: 3 }), await harness.stage({ rows: 3 })]
  expect(await harness.work(second)).toBe('waiting')
  expect(await harness.work(first)).toBe('completed')
  expect(await harness.work(second)).toBe('completed')
})

test('an import that another worker is processing is left to it', async () => {
  await using harness = await openImportHarness()
  const [called, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()]
  harness.sandbox.state.onCall(() => {
    called.resolve()
    return answer.promise
  })
  const id = await harness.stage({ rows: 3 })
  const working = harness.work(id)
  await called.promise
  expect(await harness.work(id, { ferry: await harness.openFerry() })).toBe('busy')
  answer.resolve(undefined)
  expect(await working).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 3 })
})

test('a pause stops it within one batch, and it goes on where it was', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 40, batchRows: 1 })
  let [seen, seenBefore] = [0, 0]
  harness.sandbox.state.onCall(async () => {
    seen += 1
    if (seen !== 5) return undefined
    await pauseImport(harness.ferry.pool, id, ADA)
    seenBefore = seen
    return undefined
  })
  expect(await harness.work(id)).toBe('paused')
  // Of four calls this one was there already.
  expect(seen - seenBefore).toBeLessThanOrEqual(3)
  await resumeImport(harness.ferry.pool, id, ADA)
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 40 })
})

test('a cancellation is noticed while it waits for a permit that is a minute away', async () => {
  await using harness = await openImportHarness({}, { FERRY_IMPORT_LIMIT: '1/60s' })
  const id = await harness.stage({ rows: 2, batchRows: 1 })
  const working = harness.work(id)
  await waitFor(async () => (await harness.importRow(id)).accepted === 1, { what: 'the first call' })
  await cancelImport(harness.ferry.pool, id, ADA)
  expect(await working).toBe('cancelled')
})

test('a stop lets calls in flight end, and claims nothing more', async () => {
  await using harness = await openImportHarness({ answerMs: 200 })
  const id = await harness.stage({ rows: 20, batchRows: 1 })
  const stop = new AbortController()
  const working = harness.work(id, { signal: stop.signal })
  await waitFor(() => harness.calls() >= 4, { what: 'calls in flight' })
  stop.abort()
  expect(await working).toBe('stopped')
  const calls = harness.calls()
  expect((await harness.batches(id)).map(batch => batch.state)).toEqual(Array(calls).fill('sent'))
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 20 })
})

test('a cut off makes calls in flight uncertain, and they are sent again', async () => {
  await using harness = await openImportHarness({}, { FERRY_REQUEST_TIMEOUT: '20s' })
  const id = await harness.stage({ rows: 4, batchRows: 2 })
  harness.sandbox.state.inject({ kind: 'hang', applied: true }, { nth: 1 })
  const [stop, cutOff] = [new AbortController(), new AbortController()]
  const working = harness.work(id, { signal: stop.signal, cutOff: cutOff.signal })
  await waitFor(() => harness.calls() === 1, { what: 'the call' })
  stop.abort()
  cutOff.abort()
  expect(await working).toBe('stopped')
  expect(await harness.batches(id)).toMatchObject([{ state: 'ready', uncertain: true, resends: 1 }])
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 2, twice: 2 })
  expect(await harness.batches(id)).toMatchObject([
    { state: 'sent', uncertain: false, resends: 1 },
    { resends: 0 },
  ])
})

test('the first rows go alone, then the import waits for a person', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 20, batchRows: 3, firstRows: 5 })
  expect(await harness.work(id)).toBe('paused')
  expect(harness.timesDelivered()).toEqual({ once: 5 })
  expect(await harness.importRow(id)).toMatchObject({
    pause_code: 'FirstRowsSent',
    pause_message: 'The first 5 rows have been sent.',
  })
  await resumeImport(harness.ferry.pool, id, ADA)
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 20 })
})

test('first rows that are all there are need nobody', async () => {
  await using harness = await openImportHarness()
  expect(await harness.work(await harness.stage({ rows: 5, firstRows: 5 }))).toBe('completed')
})

test('an import yields after its calls if another one waits, and only then', async () => {
  await using harness = await openImportHarness()
  harness.sandbox.state.subscribers.addPage(OTHER_PAGE)
  const id = await harness.stage({ rows: 20, batchRows: 1 })
  const other = await harness.stage({ rows: 20, batchRows: 1, pageId: OTHER_PAGE, status: 'paused' })
  const ends = [await harness.work(id, { yieldAfterCalls: 50 })]
  expect(ends).toEqual(['completed'])
  await resumeImport(harness.ferry.pool, other, ADA)
  const third = await harness.stage({ rows: 20, batchRows: 1, recipient: line => `q${line}@example.com` })
  expect(await harness.work(other, { yieldAfterCalls: 10 })).toBe('yielded')
  expect((await harness.importRow(other)).accepted).toBe(10)
  expect(await harness.work(third, { yieldAfterCalls: 10 })).toBe('yielded')
})

test('two imports that share a limit get equal shares', async () => {
  // Slow enough that both ask for each permit, however busy the machine.
  await using harness = await openImportHarness({}, { FERRY_IMPORT_LIMIT: '2/400ms' })
  harness.sandbox.state.subscribers.addPage(OTHER_PAGE)
  const ids = [
    await harness.stage({ rows: 30, batchRows: 1 }),
    await harness.stage({ rows: 30, batchRows: 1, pageId: OTHER_PAGE }),
  ]
  const other = await harness.openFerry()
  const stop = new AbortController()
  const works = [
    harness.work(ids[0]!, { signal: stop.signal }),
    harness.work(ids[1]!, { signal: stop.signal, ferry: other }),
  ]
  await waitFor(() => harness.calls() >= 24, { what: 'twenty-four calls' })
  stop.abort()
  await Promise.all(works)
  const shares = await Promise.all(ids.map(async id => (await harness.importRow(id)).accepted))
  expect(Math.abs(shares[0]! - shares[1]!)).toBeLessThanOrEqual(4)
})

test('the limit is kept, and the claims of a batch are in the call log', async () => {
  await using harness = await openImportHarness({}, { FERRY_IMPORT_LIMIT: '3/300ms' })
  const id = await harness.stage({ rows: 12, batchRows: 1 })
  await harness.work(id)
  expect(harness.sandbox.state.maxInAnyWindow('import-subscribers', 300)).toBeLessThanOrEqual(3)
  const calls = await harness.query(
    `select b.id from ferry.platform_calls c join ferry.import_batches b on b.id = c.batch_id and b.call_id = c.id
     where c.request_id = b.request_id and c.http_status = 200`,
  )
  expect(calls).toHaveLength(12)
})

test('a platform that takes long to answer has four calls to answer at a time, and never more', async () => {
  await using harness = await openImportHarness({}, { FERRY_REQUEST_TIMEOUT: '30s' })
  const id = await harness.stage({ rows: 13, batchRows: 1 })
  const four = Promise.withResolvers<undefined>()
  let [begun, ended, most] = [0, 0, 0]
  // The first call is alone; the others are kept waiting until there are four of them.
  harness.sandbox.state.onCall(async () => {
    most = Math.max(most, ++begun - ended)
    if (most === 4) four.resolve(undefined)
    if (begun > 1) await four.promise
    ended++
    return undefined
  })
  expect(await harness.work(id)).toBe('completed')
  expect({ begun, most }).toEqual({ begun: 13, most: 4 })
})
