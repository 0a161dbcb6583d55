import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { openHttpHarness, openTestHttp } from './http-harness.ts'

test('while Postgres does not answer, many probes get their answer in time', async () => {
  await using harness = await openHttpHarness()
  expect((await harness.get('/readyz')).status).toBe(200)
  harness.proxy.fallSilent()
  await expect.poll(() => harness.get('/readyz').then(({ status }) => status)).toBe(503)
  const beganAtMs = performance.now()
  const answers = await Promise.all(Array.from({ length: 30 }, () => harness.get('/readyz')))
  // One after another they would take a minute.
  expect(performance.now() - beganAtMs).toBeLessThan(20_000)
  for (const { status, json } of answers) {
    expect(status).toBe(503)
    expect(json).toEqual({
      ready: false,
      postgres: 'Postgres did not answer within 2 s.',
      schema: null,
      queue: 'The queue did not answer within 2 s.',
    })
  }
  expect((await harness.get('/livez')).status).toBe(200)
  await harness.proxy[Symbol.asyncDispose]()
})

test('after a failover the next probes find the new Postgres', async () => {
  await using harness = await openHttpHarness()
  const postgres = async () => (await harness.get('/readyz')).json.postgres
  expect(await postgres()).toBe('ok')
  harness.proxy.fallSilent()
  harness.proxy.recover()
  await expect.poll(postgres).not.toBe('ok')
  await expect.poll(postgres).toBe('ok')
  await harness.proxy[Symbol.asyncDispose]()
})

test('while Postgres does not answer, a scrape has the metrics of the process in time, and says that it is away', async () => {
  await using harness = await openHttpHarness()
  expect((await harness.scrape()).value('ferry_database_up')).toBe(1)
  // What was read is shown for ten seconds.
  const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_001)
  harness.proxy.fallSilent()
  const scrape = await harness.scrape()
  now.mockRestore()
  expect(scrape.value('ferry_database_up')).toBe(0)
  expect(scrape.value('ferry_process_start_time_seconds')).toBeGreaterThan(0)
  expect(scrape.value('ferry_queue_waiting', { queue: 'sync' })).toBeUndefined()
  expect(await harness.get('/freshness')).toMatchObject({
    status: 503,
    json: { fresh: false, error: 'Postgres did not answer.' },
  })
  await harness.proxy[Symbol.asyncDispose]()
})

test('a scrape that waits for Postgres is answered at once when the worker stops', async () => {
  await using harness = await openHttpHarness()
  harness.proxy.fallSilent()
  const scraping = harness.get('/metrics')
  const probing = harness.get('/readyz')
  await delay(200)
  harness.http.stop()
  expect(await scraping).toMatchObject({
    status: 200,
    text: expect.not.stringContaining('ferry_database_up'),
  })
  expect((await probing).status).toBe(503)
  await harness.http[Symbol.asyncDispose]()
  await harness.proxy[Symbol.asyncDispose]()
})

test('a client that sends its request slowly is cut off after five seconds', async () => {
  await using http = await openTestHttp()
  const socket = connect(Number(new URL(http.address).port), '127.0.0.1')
  const beganAtMs = performance.now()
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n')
  const drip = setInterval(() => socket.write('X-A: b\r\n'), 500)
  const answer = await text(socket)
  clearInterval(drip)
  expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
  expect(answer).toMatch(/\r\n\r\n\{"error":"The request did not arrive in time\."\}$/)
  expect(performance.now() - beganAtMs).toBeGreaterThan(4_900)
})
