import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openHttpHarness, openTestHttp } from './http-harness.ts'

test('while Postgres does not answer, many probes get their answer in time, and it is ready again afterwards', async () => {
  await using harness = await openHttpHarness()
  expect((await harness.get('/readyz')).status).toBe(200)
  harness.proxy.fallSilent()
  await expect.poll(() => harness.get('/readyz').then(({ status }) => status), { timeout: 5_000 }).toBe(503)
  const beganAtMs = performance.now()
  const answers = await Promise.all(Array.from({ length: 30 }, () => harness.get('/readyz')))
  expect(performance.now() - beganAtMs).toBeLessThan(3_000)
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
  harness.proxy.recover()
  await expect
    .poll(() => harness.get('/readyz').then(({ json }) => json.postgres), { timeout: 20_000 })
    .toBe('ok')
})

test('a client that sends its request slowly is cut off after five seconds', async () => {
  await using http = await openTestHttp()
  const socket = connect(Number(new URL(http.address).port), '127.0.0.1')
  const beganAtMs = performance.now()
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n')
  const drip = setInterval(() => socket.write('X-A: b\r\n'), 500)
  const answer = await text(socket)
  clearInterval(drip)
  expect(answer).toContain('408 Request Timeout')
  expect(performance.now() - beganAtMs).toBeLessThan(8_000)
})
