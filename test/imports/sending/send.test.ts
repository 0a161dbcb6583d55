import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { cancelImport, resumeImport } from '#src/imports/control/decide.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { logImportEnd } from '#src/worker/process-import.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { sendBatches, UNAVAILABLE } from '#test/support/scripted-worker.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { openImportHarness, recipientsOf } from '../import-harness.ts'

const NAMELESS = { kind: 'error', code: 'InvalidParameter', message: 'A recipient is not valid.' } as const
test.for([
  ['answers 500 after it was applied', { kind: 'error', code: 'InternalError', applied: true }],
  ['closes the connection after it was applied', { kind: 'drop', applied: true }],
  ['never answers after it was applied', { kind: 'hang', applied: true }],
  ["answers with a gateway's page after it was applied", { kind: 'html', applied: true }],
  ['answers half', { kind: 'truncate' }],
  ['answers an error in a 2xx', { kind: 'error-in-2xx', code: 'InternalError' }],
  ['answers without data', { kind: 'no-data' }],
  ['answers nothing in a 2xx', { kind: 'empty' }],
] as const)('a batch is sent again, and the ledger says so, if the platform %s', async ([, fault]) => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 4, batchRows: 2 })
  harness.sandbox.state.inject(fault, { nth: 2 })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 2, twice: 2 })
  expect(await harness.batches(id)).toMatchObject([
    { state: 'sent', resends: 0 },
    { state: 'sent', resends: 1, uncertain: false },
  ])
})

test.for([
  ['answers 500 and did nothing', { kind: 'error', code: 'InternalError' }],
  ['closes the connection and did nothing', { kind: 'drop' }],
] as const)('a batch is sent again, and the ledger says so, if the platform %s', async ([, fault]) => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 2 })
  harness.sandbox.state.inject(fault, { nth: 1 })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 2 })
  expect(await harness.batches(id)).toMatchObject([{ resends: 1 }])
})

test('an uncertain batch is held for a person if the import wants that, and the others go on', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 6, batchRows: 2, onUncertain: 'hold' })
  harness.sandbox.state.inject({ kind: 'drop', applied: true }, { nth: 2 })
  expect(await harness.work(id)).toBe('undecided')
  expect(harness.timesDelivered()).toEqual({ once: 6 })
  // The two batches after the first are under way at once: either may be the second call.
  const states = (await harness.batches(id)).map(batch => batch.state)
  expect(states.toSorted()).toEqual(['sent', 'sent', 'uncertain'])
  expect(await harness.importRow(id)).toMatchObject({ status: 'undecided', finished_at: null })
})

test('who was set aside from a batch that is held is sent, for that one was in no call', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 5, onUncertain: 'hold' })
  harness.sandbox.state.inject({ ...NAMELESS, message: 'p4@example.com is not wanted.' }, { nth: 1 })
  harness.sandbox.state.inject({ kind: 'drop', applied: true }, { nth: 2 })
  expect(await harness.work(id)).toBe('undecided')
  expect(harness.timesDelivered()).toEqual({ once: 5 })
  expect(await harness.batches(id)).toMatchObject([
    { state: 'uncertain', rows: 2 },
    { state: 'sent', rows: 1, from_line: '4' },
    { state: 'uncertain', rows: 2 },
  ])
})

test.for(['UndonedOrderExist', 'RequestLocked', 'ServiceUnavailable'])(
  'a batch refused with %s is sent again a second later, once',
  async code => {
    await using harness = await openImportHarness()
    const id = await harness.stage({ rows: 2 })
    harness.sandbox.state.inject({ kind: 'error', code }, { nth: 1 })
    const before = performance.now()
    expect(await harness.work(id)).toBe('completed')
    expect(performance.now() - before).toBeGreaterThan(1_000)
    expect(harness.timesDelivered()).toEqual({ once: 2 })
    expect(await harness.batches(id)).toMatchObject([{ resends: 0, uncertain: false }])
  },
)

test('ten failures in a row pause it with the reason, and a person may resume it', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 2 })
  await sendBatches(harness.ferry.pool, id, Array(9).fill(UNAVAILABLE))
  await ageImport(harness.ferry.pool, id, '1 hour')
  harness.sandbox.state.inject({ kind: 'error', code: 'ServiceUnavailable' }, { nth: 1 })
  expect(await harness.work(id)).toBe('paused')
  expect(await harness.importRow(id)).toMatchObject({
    pause_code: 'ServiceUnavailable',
    pause_message: expect.stringMatching(/^10 calls in a row failed/),
    pause_request_id: expect.stringMatching(/./),
    failures: 0,
  })
  await resumeImport(harness.ferry.pool, id, ADA)
  expect(await harness.work(id)).toBe('completed')
})

test('429 for a while loses nothing, costs no failure, and everybody is sent once', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 12, batchRows: 1 })
  let until = Number.POSITIVE_INFINITY
  harness.sandbox.state.onCall(({ number }) => {
    if (number === 3) until = performance.now() + 2_500
    return number >= 3 && performance.now() < until
      ? { kind: 'error', code: 'RequestTooFrequently' }
      : undefined
  })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 12 })
  expect(await harness.importRow(id)).toMatchObject({ failures: 0 })
  expect(harness.calls()).toBeLessThan(24)
})

test("a gateway's 429 leaves nothing for a person, not even where the uncertain is held", async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 6, batchRows: 2, onUncertain: 'hold' })
  for (const nth of [2, 3]) harness.sandbox.state.inject({ kind: 'html', status: 429 }, { nth })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 6 })
  expect(await harness.batches(id)).toMatchObject(Array(3).fill({ state: 'sent', resends: 0 }))
})

test('a platform that cannot be reached was not sent anything', async () => {
  await using harness = await openImportHarness()
  const [address, port] = await unusedPort()
  const ferry = await harness.openFerry({ FERRY_BASE_URL: address })
  const id = await harness.stage({ rows: 2, onUncertain: 'hold' })
  const working = harness.work(id, { ferry })
  await waitFor(async () => (await harness.importRow(id)).failures === 2, { what: 'two failures' })
  expect(await harness.batches(id)).toMatchObject([
    { state: 'ready', uncertain: false, call_id: null, error_code: 'NotSent' },
  ])
  expect(await harness.query('select 1 from ferry.platform_calls')).toEqual([])
  await using _platform = await answering(port)
  expect(await working).toBe('completed')
  expect(await harness.batches(id)).toMatchObject([{ state: 'sent', resends: 0 }])
})

test('data may be null or empty', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 2, batchRows: 1 })
  harness.sandbox.state.inject(
    { kind: 'raw', status: 200, body: '{"request_id":"n","data":null}' },
    { nth: 1 },
  )
  expect(await harness.work(id)).toBe('completed')
  expect((await harness.batches(id)).map(batch => batch.state)).toEqual(['sent', 'sent'])
  expect(harness.calls()).toBe(2)
})

test.for([
  ['Unauthorized', 401],
  ['BalanceNotEnough', 402],
  ['AccessDenied', 403],
  ['RouteNotFound', 404],
  ['MethodNotAllowed', 405],
  ['DangerousOperation', 428],
  ['NoLicense', 400],
  ['InvalidContentType', 400],
] as const)(
  '%s in the middle pauses it with the reason, and nobody is lost or sent twice',
  async ([code]) => {
    await using harness = await openImportHarness()
    const id = await harness.stage({ rows: 12, batchRows: 2 })
    let refusing = true
    harness.sandbox.state.onCall(({ number, body }) =>
      refusing && number >= 3
        ? { kind: 'error', code, message: `No for ${recipientsOf(body)[0]} and else@example.org.` }
        : undefined,
    )
    expect(await harness.work(id)).toBe('paused')
    const paused = await harness.importRow(id)
    expect(paused).toMatchObject({ pause_code: code, pause_what_to_do: expect.stringMatching(/./) })
    expect(paused.pause_message).toMatch(new RegExp(`^The platform answered ${code} \\(HTTP \\d+\\)\\.$`))
    const { pause } = await reportImport(harness.ferry.pool, id)
    expect(pause?.platformMessage).toContain('No for <recipient> and <recipient>.')
    expect(harness.sandbox.state.received.map(call => call.requestId)).toContain(paused.pause_request_id)
    refusing = false
    await resumeImport(harness.ferry.pool, id, ADA)
    expect(await harness.work(id)).toBe('completed')
    expect(harness.timesDelivered()).toEqual({ once: 12 })
  },
)

test('no recipient is in the log, whatever the platform says of them', async () => {
  await using harness = await openImportHarness()
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: line => lines.push(line) })
  const id = await harness.stage({ rows: 6, batchRows: 2 })
  const message = 'p2@example.com and p3@example.com are not welcome'
  harness.sandbox.state.inject({ ...NAMELESS, message }, { nth: 1 })
  harness.sandbox.state.inject({ kind: 'error', code: 'InternalError', message }, { nth: 2 })
  harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied', message }, { nth: 3 })
  const end = await harness.work(id, { ferry: { ...harness.ferry, log } })
  expect(end).toBe('paused')
  await logImportEnd({ pool: harness.ferry.pool, log }, id)
  expect(lines.join('')).toContain('The platform answered ')
  expect(lines.join('')).not.toContain('welcome')
  expect(lines.join('')).not.toContain('@')
})

test('a batch that was split after an uncertain outcome is called resent in every part', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 8 })
  harness.sandbox.state.inject({ kind: 'drop', applied: true }, { nth: 1 })
  harness.sandbox.state.inject({ kind: 'error', code: 'EntityTooLarge' }, { nth: 2 })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ twice: 8 })
  expect(await harness.batches(id)).toMatchObject([
    { rows: 4, resends: 1, uncertain: false },
    { rows: 4, resends: 1, uncertain: false },
  ])
})

test('an outcome that comes after a cancellation is recorded; an uncertain one is never sent again', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 2 })
  harness.sandbox.state.onCall(async () => {
    await cancelImport(harness.ferry.pool, id, ADA)
    return { kind: 'drop', applied: true }
  })
  expect(await harness.work(id)).toBe('cancelled')
  expect(await harness.batches(id)).toMatchObject([{ state: 'uncertain' }])
})

async function unusedPort(): Promise<[string, number]> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return [`http://127.0.0.1:${port}`, port]
}

/** A platform that accepts whatever comes. */
async function answering(port: number) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"request_id":"r","data":{}}')
    })
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

test.for([
  ['the words of the platform', ''],
  ['the message that is kept', 'The platform answered InvalidParameter (HTTP 400): '],
  ['the message without the status', 'The platform answered InvalidParameter : '],
] as const)(
  'a recipient is searched for in the whole message, not in the first 1,000 characters of %s',
  async ([, before]) => {
    await using harness = await openImportHarness()
    // Of this message 1,000 characters end with the address of somebody else, who is in the same batch.
    const cut = 'p3@example.co'
    const message = `${'x'.repeat(999 - cut.length - before.length)} p3@example.com is not valid`
    expect(`${before}${message}`.slice(0, 1_000).endsWith(` ${cut}`)).toBe(true)
    harness.sandbox.state.onCall(({ body }) =>
      recipientsOf(body).includes('p3@example.com')
        ? { kind: 'error', code: 'InvalidParameter', message }
        : undefined,
    )
    const id = await harness.stage({
      rows: 6,
      recipient: line => (line === 5 ? cut : `p${line}@example.com`),
    })
    expect(await harness.work(id)).toBe('completed')
    expect((await harness.rejects(id)).map(({ line }) => line)).toEqual(['3'])
    expect(harness.calls()).toBe(2)
  },
)
