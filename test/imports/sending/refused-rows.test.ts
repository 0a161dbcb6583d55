import { expect, test } from 'vitest'
import { resumeImport } from '#src/imports/control/decide.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { ADA } from '#test/support/acted-by.ts'
import { bad, NAMELESS, openImportHarness, recipientsOf } from '../import-harness.ts'

test('a platform that takes a hundred rows at most gets no more, after two refusals', async () => {
  await using harness = await openImportHarness()
  harness.sandbox.state.onCall(({ body }) =>
    recipientsOf(body).length > 100 ? { kind: 'error', code: 'EntityTooLarge' } : undefined,
  )
  const id = await harness.stage({ rows: 1_000, batchRows: 400 })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 1_000 })
  expect(await harness.importRow(id)).toMatchObject({ max_rows: 100 })
  expect(harness.calls()).toBe(12)
})

test('one row too large for the platform is a reject, and the others go on as many at a time as before', async () => {
  await using harness = await openImportHarness()
  harness.sandbox.state.onCall(({ body }) =>
    recipientsOf(body).includes('p2@example.com') ? { kind: 'error', code: 'EntityTooLarge' } : undefined,
  )
  const id = await harness.stage({ rows: 64, batchRows: 16 })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 63 })
  expect(await harness.rejects(id)).toMatchObject([{ line: '2', error_code: 'EntityTooLarge' }])
  expect((await harness.batches(id)).filter(batch => batch.rows === 16)).toHaveLength(3)
})

test('rows too large one by one are no rejects before the platform has accepted any', async () => {
  await using harness = await openImportHarness()
  harness.sandbox.state.onCall(() => ({ kind: 'error', code: 'EntityTooLarge' }))
  const id = await harness.stage({ rows: 3, batchRows: 1 })
  expect(await harness.work(id)).toBe('paused')
  expect(await harness.rejects(id)).toEqual([])
  expect(await harness.importRow(id)).toMatchObject({
    pause_code: 'EntityTooLarge',
    pause_what_to_do: expect.stringContaining('No row was rejected because of this'),
    recipients: 3,
  })
  harness.sandbox.state.onCall(({ body }) =>
    recipientsOf(body).includes('p2@example.com') ? { kind: 'error', code: 'EntityTooLarge' } : undefined,
  )
  await resumeImport(harness.ferry.pool, id, ADA)
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 2 })
  expect(await harness.rejects(id)).toMatchObject([
    { line: '2', error_code: 'EntityTooLarge', message: expect.stringContaining('413') },
  ])
})

test('a pause after rows were rejected does not say that none was', async () => {
  await using harness = await openImportHarness()
  const [named, later] = [bad(4, 6, 8), bad(...Array.from({ length: 32 }, (_, n) => n + 10))]
  harness.sandbox.state.onCall(call => {
    const [first] = named(call)
    if (first) return { ...NAMELESS, message: `${first} is no good` }
    return later(call).length > 0 ? NAMELESS : undefined
  })
  const id = await harness.stage({ rows: 40, batchRows: 2 })
  expect(await harness.work(id)).toBe('paused')
  const rejected = (await harness.rejects(id)).length
  expect(rejected).toBeGreaterThanOrEqual(3)
  const { pause_what_to_do } = await harness.importRow(id)
  expect(pause_what_to_do).not.toContain('No row was rejected')
  expect(pause_what_to_do).toContain(`the ${rejected} rows rejected so far`)
})

test('a recipient that is named costs one call more, and is rejected with the words of the platform', async () => {
  await using harness = await openImportHarness()
  const found = bad(7)
  harness.sandbox.state.onCall(call =>
    found(call).length > 0 ? { ...NAMELESS, message: `p7@example.com cannot be mailed` } : undefined,
  )
  const id = await harness.stage({ rows: 20, batchRows: 10 })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.calls()).toBe(3)
  expect(harness.timesDelivered()).toEqual({ once: 19 })
  const refused = harness.sandbox.state.received.find(call => call.code === 'InvalidParameter')
  expect(await harness.rejects(id)).toMatchObject([
    {
      line: '7',
      origin: 'platform',
      error_code: 'InvalidParameter',
      request_id: refused!.requestId,
      message: expect.stringContaining('<recipient> cannot be mailed'),
      raw: 'p7@example.com',
    },
  ])
})

test.for([
  ['InvalidParameter', 0],
  ['BadRequest', 1],
  ['ResourceNotFound', 1],
] as const)('a recipient that is named with %s costs %i calls to make sure of it', async ([code, more]) => {
  await using harness = await openImportHarness()
  const found = bad(7, 13, 14)
  harness.sandbox.state.onCall(call => {
    const [first] = found(call)
    return first ? { kind: 'error', code, message: `${first} is not there` } : undefined
  })
  const id = await harness.stage({ rows: 20 })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.calls()).toBe(1 + 3 * (1 + more))
  expect(harness.timesDelivered()).toEqual({ once: 17 })
  expect(await harness.rejects(id)).toMatchObject(
    ['7', '13', '14'].map(line => ({ line, error_code: code, raw: `p${line}@example.com` })),
  )
})

test('several that are named one by one are rejected each with its own words', async () => {
  await using harness = await openImportHarness()
  const found = bad(3, 5, 8)
  harness.sandbox.state.onCall(call => {
    const [first] = found(call)
    return first ? { ...NAMELESS, message: `${first} cannot be mailed, ${nth++}` } : undefined
  })
  let nth = 1
  const id = await harness.stage({ rows: 10 })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.calls()).toBe(4)
  expect((await harness.rejects(id)).map(row => row.message)).toEqual(
    [1, 2, 3].map(nth => expect.stringContaining(`<recipient> cannot be mailed, ${nth}`)),
  )
})

test('the words of the platform that are kept name nobody, neither before nor after a row is rejected', async () => {
  await using harness = await openImportHarness()
  const found = bad(3, 5)
  harness.sandbox.state.onCall(call => {
    const [first] = found(call)
    if (first) return { ...NAMELESS, message: `'${first}' cannot be mailed; someone@else.example can` }
    return harness.calls() === 3 ? { kind: 'error', code: 'Unauthorized' } : undefined
  })
  const id = await harness.stage({ rows: 10 })
  const kept = async () =>
    JSON.stringify(
      await harness.query(
        `select message, reasons::text from ferry.import_batches union all
         select message, null from ferry.import_rejects union all select pause_message, null from ferry.imports`,
      ),
    )
  expect(await harness.work(id)).toBe('paused')
  expect(await kept()).toContain('<recipient>')
  expect(await kept()).not.toContain('@')
  await resumeImport(harness.ferry.pool, id, ADA)
  expect(await harness.work(id)).toBe('completed')
  expect(await harness.rejects(id)).toHaveLength(2)
  expect(await kept()).not.toContain('@')
})

test('a recipient that is named for no reason is rejected only if the rest is accepted without', async () => {
  await using harness = await openImportHarness()
  const found = bad(9)
  harness.sandbox.state.onCall(call =>
    found(call).length > 0 ? { ...NAMELESS, message: 'near p3@example.com' } : undefined,
  )
  const id = await harness.stage({ rows: 16 })
  expect(await harness.work(id)).toBe('completed')
  expect((await harness.rejects(id)).map(row => row.line)).toEqual(['9'])
  expect(harness.timesDelivered()).toEqual({ once: 15 })
})

test.for([
  ['the first', [2]],
  ['the last', [501]],
  ['some', [2, 3, 77, 300, 499]],
  ['ten, far from each other', [20, 70, 120, 170, 220, 270, 320, 370, 420, 470]],
  ['ten, near each other', [100, 101, 102, 103, 110, 111, 112, 120, 121, 140]],
] as const)('rows nobody names are found by halving: %s', async ([, lines]) => {
  await using harness = await openImportHarness({}, { FERRY_IMPORT_LIMIT: '500/1s' })
  const found = bad(...lines)
  harness.sandbox.state.onCall(call => (found(call).length > 0 ? NAMELESS : undefined))
  const id = await harness.stage({ rows: 1_000 })
  expect(await harness.work(id)).toBe('completed')
  expect((await harness.rejects(id)).map(row => Number(row.line))).toEqual(lines)
  expect(harness.timesDelivered()).toEqual({ once: 1_000 - lines.length })
  expect(harness.calls()).toBeLessThan(3 + 20 * lines.length)
})

test('a row nobody names is found even as the first of ten thousand', async () => {
  await using harness = await openImportHarness({}, { FERRY_IMPORT_LIMIT: '500/1s' })
  const found = bad(2)
  harness.sandbox.state.onCall(call => (found(call).length > 0 ? NAMELESS : undefined))
  const id = await harness.stage({ rows: 9_000, batchRows: 10_000 })
  expect(await harness.work(id)).toBe('completed')
  expect((await harness.rejects(id)).map(row => row.line)).toEqual(['2'])
  expect(harness.timesDelivered()).toEqual({ once: 8_999 })
})

test('a page that does not exist costs one call, pauses the import with the reason, and rejects nobody', async () => {
  await using harness = await openImportHarness()
  const pageId = 6_000_000_000_002n
  const id = await harness.stage({ rows: 5_000, pageId })
  expect(await harness.work(id)).toBe('paused')
  expect(harness.calls()).toBe(1)
  expect(await harness.rejects(id)).toEqual([])
  expect(await harness.importRow(id)).toMatchObject({
    pause_code: 'ResourceNotFound',
    pause_message: 'The platform answered ResourceNotFound (HTTP 400).',
    pause_what_to_do: expect.stringMatching(/^Check --page. No row was rejected because of this/),
    pause_request_id: expect.stringMatching(/./),
  })
  harness.sandbox.state.subscribers.addPage(pageId)
  await resumeImport(harness.ferry.pool, id, ADA)
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered(pageId)).toEqual({ once: 5_000 })
})

test('after a resume, an import to a page that does not exist still says to check the page, however many rows it has', async () => {
  await using harness = await openImportHarness()
  for (const rows of [1, 3, 2_000]) {
    const id = await harness.stage({ rows, pageId: 6_000_000_000_002n })
    expect(await harness.work(id)).toBe('paused')
    await resumeImport(harness.ferry.pool, id, ADA)
    expect(await harness.work(id)).toBe('paused')
    expect(await harness.importRow(id)).toMatchObject({
      pause_what_to_do: expect.stringMatching(/^Check --page.* import the file again with the right page\. /),
    })
  }
})

test.for([1, 2, 3, 7])(
  'one that the platform does not name costs a dozen at most: a list of %i',
  async rows => {
    await using harness = await openImportHarness()
    harness.sandbox.state.onCall(() => ({
      kind: 'error',
      code: 'ResourceNotFound',
      message: 'No such page.',
    }))
    const id = await harness.stage({ rows, pageId: 6_000_000_000_002n })
    expect(await harness.work(id)).toBe('paused')
    expect(harness.calls()).toBeLessThanOrEqual(12)
    expect(await harness.rejects(id)).toEqual([])
    expect(await harness.importRow(id)).toMatchObject({ pause_code: 'ResourceNotFound', recipients: rows })
  },
)

test('words that name the page for the fault of a row hold the import up once, and the row is found all the same', async () => {
  await using harness = await openImportHarness()
  const found = bad(3)
  harness.sandbox.state.onCall(call =>
    found(call).length > 0
      ? {
          kind: 'error',
          code: 'ResourceNotFound',
          message: `Something on page ${SANDBOX_PAGE_ID} is missing.`,
        }
      : undefined,
  )
  const id = await harness.stage({ rows: 40, batchRows: 20 })
  let pauses = 0
  while ((await harness.work(id)) === 'paused') {
    pauses += 1
    await resumeImport(harness.ferry.pool, id, ADA)
  }
  expect(pauses).toBe(1)
  expect((await harness.rejects(id)).map(row => row.line)).toEqual(['3'])
  expect(harness.timesDelivered()).toEqual({ once: 39 })
})

test('the HTTP status is not taken for the number of the page', async () => {
  await using harness = await openImportHarness()
  harness.sandbox.state.subscribers.addPage(400n)
  const found = bad(3)
  harness.sandbox.state.onCall(call =>
    found(call).length > 0 ? { kind: 'error', code: 'BadRequest', message: 'Something is gone.' } : undefined,
  )
  const id = await harness.stage({ rows: 4, pageId: 400n })
  expect(await harness.work(id)).toBe('completed')
  expect((await harness.rejects(id)).map(row => row.line)).toEqual(['3'])
})

test('a page that is gone half-way pauses the import and rejects nobody', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 400, batchRows: 20 })
  harness.sandbox.state.onCall(({ number }) =>
    number > 5 ? { kind: 'error', code: 'ResourceNotFound', message: 'Status page gone.' } : undefined,
  )
  expect(await harness.work(id)).toBe('paused')
  expect(harness.calls()).toBeLessThanOrEqual(5 + 12 + 6) // answers overtake each other
  expect(await harness.rejects(id)).toEqual([])
  harness.sandbox.state.hook = null
  await resumeImport(harness.ferry.pool, id, ADA)
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 400 })
})
