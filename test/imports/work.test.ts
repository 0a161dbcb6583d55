import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { setup } from './import-world.ts'

const OTHER_PAGE = 6_000_000_000_001n

test('everybody is sent once, in batches, and the import completes', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 25, batchRows: 10 })
  expect(await world.work(id)).toBe('completed')
  expect(world.timesDelivered()).toEqual({ once: 25 })
  expect(await world.batches(id)).toMatchObject([
    { rows: 10, state: 'sent', from_line: '2', to_line: '11' },
    { rows: 10, state: 'sent' },
    { rows: 5, state: 'sent' },
  ])
  expect(world.calls()).toBe(3)
  const row = await world.importRow(id)
  expect(row).toMatchObject({ status: 'completed', accepted: 3, finished_at: expect.any(Date) })
})

test('an import that is over, paused or not confirmed is left alone', async () => {
  await using world = await setup()
  for (const [status, end] of Object.entries({
    completed: 'completed',
    cancelled: 'cancelled',
    paused: 'paused',
    undecided: 'undecided',
    staging: 'waiting',
  })) {
    expect(await world.work(await world.stage({ status }))).toBe(end)
  }
  expect(world.calls()).toBe(0)
  await expect(world.work(999n)).rejects.toThrow('there is no import 999')
})

test('an import of nobody completes without a call', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 0 })
  expect(await world.work(id)).toBe('completed')
  expect(world.calls()).toBe(0)
})

test('settings travel as they were staged, component ids only if not all are meant', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 2 })
  await world.query(
    `update ferry.import_recipients set "all" = false, component_ids = '{A,B}', locale = 'de-DE' where line = 3`,
  )
  const bodies: unknown[] = []
  world.sandbox.state.onCall(({ body }) => {
    bodies.push(body)
    return undefined
  })
  await world.work(id)
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
  await using world = await setup()
  const id = await world.stage({ rows: 40 })
  await world.query(
    `update ferry.import_recipients set "all" = false, component_ids = array[repeat('x', 100000)]`,
  )
  expect(await world.work(id)).toBe('completed')
  expect((await world.batches(id)).map(batch => batch.rows)).toEqual([9, 9, 9, 9, 4])
})

test('one call is in flight until the platform has accepted one, then four', async () => {
  await using world = await setup()
  const flights: number[] = []
  const four = Promise.withResolvers<void>()
  let inFlight = 0
  world.sandbox.state.onCall(async () => {
    inFlight += 1
    flights.push(inFlight)
    if (inFlight === 4) four.resolve()
    // Once they may, they wait for each other; the bound is for the case that they do not.
    if (flights.length > 2) await Promise.race([four.promise, delay(15_000, undefined, { ref: false })])
    inFlight -= 1
    return undefined
  })
  const id = await world.stage({ rows: 14, batchRows: 1 })
  await world.work(id)
  expect(flights.slice(0, 2)).toEqual([1, 1])
  expect(Math.max(...flights)).toBe(4)
})

test('imports of one page go one after another, oldest first', async () => {
  await using world = await setup()
  const [first, second] = [await world.stage({ rows: 3 }), await world.stage({ rows: 3 })]
  expect(await world.work(second)).toBe('waiting')
  expect(await world.work(first)).toBe('completed')
  expect(await world.work(second)).toBe('completed')
})

test('an import that another worker is at is left to it', async () => {
  await using world = await setup({ answerMs: 300 })
  const id = await world.stage({ rows: 3 })
  const working = world.work(id)
  await waitFor(() => world.calls() === 1, { what: 'the call' })
  expect(await world.work(id, { ferry: await world.openFerry() })).toBe('busy')
  expect(await working).toBe('completed')
  expect(world.timesDelivered()).toEqual({ once: 3 })
})

test('a pause stops it within one batch, and it goes on where it was', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 40, batchRows: 1 })
  let [seen, seenBefore] = [0, 0]
  world.sandbox.state.onCall(async () => {
    seen += 1
    if (seen !== 5) return undefined
    await world.query(`update ferry.imports set status = 'paused' where id = $1`, [id])
    seenBefore = seen
    return undefined
  })
  expect(await world.work(id)).toBe('paused')
  // Of four calls this one was there already.
  expect(seen - seenBefore).toBeLessThanOrEqual(3)
  await world.query(`update ferry.imports set status = 'queued' where id = $1`, [id])
  expect(await world.work(id)).toBe('completed')
  expect(world.timesDelivered()).toEqual({ once: 40 })
})

test('a cancellation is noticed while it waits for a slot that is a minute away', async () => {
  await using world = await setup({}, { FERRY_IMPORT_LIMIT: '1/60s' })
  const id = await world.stage({ rows: 2, batchRows: 1 })
  const working = world.work(id)
  await waitFor(async () => (await world.importRow(id)).accepted === 1, { what: 'the first call' })
  await world.query(`update ferry.imports set status = 'cancelled' where id = $1`, [id])
  expect(await working).toBe('cancelled')
})

test('a stop lets calls in flight end, and claims nothing more', async () => {
  await using world = await setup({ answerMs: 200 })
  const id = await world.stage({ rows: 20, batchRows: 1 })
  const stop = new AbortController()
  const working = world.work(id, { signal: stop.signal })
  await waitFor(() => world.calls() >= 4, { what: 'calls in flight' })
  stop.abort()
  expect(await working).toBe('stopped')
  const calls = world.calls()
  expect((await world.batches(id)).map(batch => batch.state)).toEqual(Array(calls).fill('sent'))
  expect(await world.work(id)).toBe('completed')
  expect(world.timesDelivered()).toEqual({ once: 20 })
})

test('a cut off makes calls in flight uncertain, and they are sent again', async () => {
  await using world = await setup({}, { FERRY_REQUEST_TIMEOUT: '20s' })
  const id = await world.stage({ rows: 4, batchRows: 2 })
  world.sandbox.state.inject({ kind: 'hang', applied: true }, { nth: 1 })
  const [stop, cutOff] = [new AbortController(), new AbortController()]
  const working = world.work(id, { signal: stop.signal, cutOff: cutOff.signal })
  await waitFor(() => world.calls() === 1, { what: 'the call' })
  stop.abort()
  cutOff.abort()
  expect(await working).toBe('stopped')
  expect(await world.batches(id)).toMatchObject([{ state: 'ready', uncertain: true, resends: 1 }])
  expect(await world.work(id)).toBe('completed')
  expect(world.timesDelivered()).toEqual({ once: 2, twice: 2 })
  expect(await world.batches(id)).toMatchObject([
    { state: 'sent', uncertain: false, resends: 1 },
    { resends: 0 },
  ])
})

test('the first rows go alone, then the import waits for a person', async () => {
  await using world = await setup()
  const id = await world.stage({ rows: 20, batchRows: 3, firstRows: 5 })
  expect(await world.work(id)).toBe('paused')
  expect(world.timesDelivered()).toEqual({ once: 5 })
  expect(await world.importRow(id)).toMatchObject({
    pause_code: 'FirstRowsSent',
    pause_message: 'The first 5 rows have been sent.',
  })
  await world.query(`update ferry.imports set status = 'queued' where id = $1`, [id])
  expect(await world.work(id)).toBe('completed')
  expect(world.timesDelivered()).toEqual({ once: 20 })
})

test('first rows that are all there are need nobody', async () => {
  await using world = await setup()
  expect(await world.work(await world.stage({ rows: 5, firstRows: 5 }))).toBe('completed')
})

test('whoever an earlier import sent to the page is left out', async () => {
  await using world = await setup()
  await world.work(await world.stage({ rows: 5 }))
  const id = await world.stage({ rows: 8 })
  expect(await world.work(id)).toBe('completed')
  expect(world.timesDelivered()).toEqual({ once: 8 })
  expect(await world.importRow(id)).toMatchObject({ read: 8, recipients: 3 })
  const leftOut = await world.query(
    'select kind, earlier_import from ferry.import_left_out where import_id = $1',
    [id],
  )
  expect(leftOut).toEqual(Array(5).fill({ kind: 'already imported', earlier_import: '1' }))
})

test('another page, or another method, is another list', async () => {
  await using world = await setup()
  world.sandbox.state.subscribers.addPage(OTHER_PAGE)
  await world.work(await world.stage({ rows: 5 }))
  await world.work(await world.stage({ rows: 5, pageId: OTHER_PAGE }))
  await world.work(await world.stage({ rows: 5, method: 'im' }))
  expect(world.calls()).toBe(3)
})

test('an update sends those whose settings differ from what was sent last', async () => {
  await using world = await setup()
  await world.work(await world.stage({ rows: 5 }))
  const settings = async (id: bigint, line: number, set: string) =>
    world.query(`update ferry.import_recipients set ${set} where import_id = $1 and line = $2`, [id, line])
  const second = await world.stage({ rows: 5, update: true })
  await settings(second, 2, `locale = 'de-DE'`)
  await settings(second, 3, `"all" = false, component_ids = '{A,B}'`)
  await world.work(second)
  expect(world.timesDelivered()).toEqual({ once: 3, twice: 2 })

  const third = await world.stage({ rows: 5, update: true })
  await settings(third, 2, `locale = 'de-DE'`)
  await settings(third, 3, `"all" = false, component_ids = '{B,A}'`)
  await world.work(third)
  expect(await world.importRow(third)).toMatchObject({ recipients: 0, status: 'completed' })
})

test('the same rows imported twice at once are sent once', async () => {
  await using world = await setup({ answerMs: 20 })
  const ids = [await world.stage({ rows: 30, batchRows: 5 }), await world.stage({ rows: 30, batchRows: 5 })]
  const other = await world.openFerry()
  const ends = new Set<string>()
  while (ends.size < 2) {
    const [id, ferry] = [
      ids[Math.floor(Math.random() * 2)]!,
      [world.ferry, other][Math.floor(Math.random() * 2)]!,
    ]
    if ((await world.work(id, { ferry })) === 'completed') ends.add(`${id}`)
  }
  expect(world.timesDelivered()).toEqual({ once: 30 })
})

test('an import that was paused half-way leaves out whom a later one has sent meanwhile', async () => {
  await using world = await setup()
  const first = await world.stage({ rows: 20, batchRows: 5, firstRows: 5 })
  const second = await world.stage({ rows: 20, batchRows: 5 })
  expect(await world.work(first)).toBe('paused')
  expect(await world.work(second)).toBe('completed')
  await world.query(`update ferry.imports set status = 'queued' where id = $1`, [first])
  expect(await world.work(first)).toBe('completed')
  expect(world.timesDelivered()).toEqual({ once: 20 })
})

test('an import yields after its calls if another one waits, and only then', async () => {
  await using world = await setup()
  world.sandbox.state.subscribers.addPage(OTHER_PAGE)
  const id = await world.stage({ rows: 20, batchRows: 1 })
  const other = await world.stage({ rows: 20, batchRows: 1, pageId: OTHER_PAGE, status: 'paused' })
  const ends = [await world.work(id, { yieldAfterCalls: 50 })]
  expect(ends).toEqual(['completed'])
  await world.query(`update ferry.imports set status = 'queued' where id = $1`, [other])
  const third = await world.stage({ rows: 20, batchRows: 1, recipient: line => `q${line}@example.com` })
  expect(await world.work(other, { yieldAfterCalls: 10 })).toBe('yielded')
  expect((await world.importRow(other)).accepted).toBe(10)
  expect(await world.work(third, { yieldAfterCalls: 10 })).toBe('yielded')
})

test('two imports that share a limit get equal shares', async () => {
  // Slow enough that both ask for each slot, however busy the machine.
  await using world = await setup({}, { FERRY_IMPORT_LIMIT: '2/400ms' })
  world.sandbox.state.subscribers.addPage(OTHER_PAGE)
  const ids = [
    await world.stage({ rows: 30, batchRows: 1 }),
    await world.stage({ rows: 30, batchRows: 1, pageId: OTHER_PAGE }),
  ]
  const other = await world.openFerry()
  const stop = new AbortController()
  const works = [
    world.work(ids[0]!, { signal: stop.signal }),
    world.work(ids[1]!, { signal: stop.signal, ferry: other }),
  ]
  await waitFor(() => world.calls() >= 24, { what: 'twenty-four calls' })
  stop.abort()
  await Promise.all(works)
  const shares = await Promise.all(ids.map(async id => (await world.importRow(id)).accepted))
  expect(Math.abs(shares[0]! - shares[1]!)).toBeLessThanOrEqual(4)
})

test('the limit is kept, and the claims of a batch are in the call log', async () => {
  await using world = await setup({}, { FERRY_IMPORT_LIMIT: '3/300ms' })
  const id = await world.stage({ rows: 12, batchRows: 1 })
  await world.work(id)
  expect(world.sandbox.state.mostInAnyWindow('import-subscribers', 300)).toBeLessThanOrEqual(3)
  const calls = await world.query(
    `select b.id from ferry.platform_calls c join ferry.import_batches b on b.id = c.batch_id and b.call_id = c.id
     where c.request_id = b.request_id and c.http_status = 200`,
  )
  expect(calls).toHaveLength(12)
})

test('a platform that takes long to answer has four calls to answer at a time, and never more', async () => {
  await using world = await setup({}, { FERRY_REQUEST_TIMEOUT: '30s' })
  const id = await world.stage({ rows: 13, batchRows: 1 })
  const four = Promise.withResolvers<undefined>()
  let [begun, ended, most] = [0, 0, 0]
  // The first call is alone; the others are kept waiting until there are four of them.
  world.sandbox.state.onCall(async () => {
    most = Math.max(most, ++begun - ended)
    if (most === 4) four.resolve(undefined)
    if (begun > 1) await four.promise
    ended++
    return undefined
  })
  expect(await world.work(id)).toBe('completed')
  expect({ begun, most }).toEqual({ begun: 13, most: 4 })
})
