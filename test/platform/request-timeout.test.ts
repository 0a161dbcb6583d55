import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { listRules } from '#test/support/collect-rows.ts'
import { createThrottle } from '#test/support/create-throttle.ts'
import { importOnce, SMALL_BATCH, UNCERTAIN } from '#test/support/import-once.ts'
import { answerJson, openScriptedPlatform, success } from '#test/support/scripted-platform.ts'
import { alertRuleWire } from '#test/support/wire.ts'

const context = { runId: null, signal: new AbortController().signal }
test('a platform that hangs, before the answer, after its head or in its body, is given up after the request timeout', async () => {
  await using platform = await openScriptedPlatform(
    (_request, response, n) => {
      if (n === 1) return
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
      if (n === 3) response.write('{"request_id":')
    },
    { requestTimeoutMs: 150 },
  )
  const answers = []
  for (let n = 1; n <= 3; n++) answers.push(await importOnce(platform, SMALL_BATCH, context))
  expect(answers).toMatchObject(Array(3).fill(UNCERTAIN))
  expect(answers.map(answer => !answer.ok && answer.refusal.message)).toEqual(
    Array(3).fill(expect.stringContaining('it took longer than 150 ms')),
  )
})

test("the time to answer is the platform's: an answer that comes slowly is given up, one that is read slowly is not", async () => {
  const text = JSON.stringify(success(null))
  await using platform = await openScriptedPlatform(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 50)
      setTimeout(() => response.end(text), 1_000)
      response.on('finish', () => clearInterval(drip)).on('close', () => clearInterval(drip))
    },
    { requestTimeoutMs: 300 },
  )
  expect(await importOnce(platform, SMALL_BATCH, context)).toMatchObject(UNCERTAIN)

  await using fast = await openScriptedPlatform(
    (_request, response) => answerJson(response, success([alertRuleWire()])),
    { requestTimeoutMs: 1_000 },
  )
  expect(await listRules(fast.client, context, { pause: () => delay(1_500) })).toMatchObject({
    ok: true,
    requests: 1,
  })
})

test("the wait for another permit is not the platform's time, and it has all of its time after that", async () => {
  const throttle = createThrottle({
    async onAcquire(n) {
      if (n === 1) return 1_500
      await delay(2_500)
      return 0
    },
  })
  await using platform = await openScriptedPlatform(
    (_request, response) => void setTimeout(() => answerJson(response, success({})), 200),
    { throttle, requestTimeoutMs: 2_000 },
  )
  expect(await importOnce(platform, SMALL_BATCH, context)).toMatchObject({ ok: true, requests: 1 })
  expect(throttle.calls.map(({ state }) => state)).toEqual(['returned', 'finished'])
})

test('a platform that hangs is given up after the request timeout, also if another permit was waited for', async () => {
  const throttle = createThrottle({ onAcquire: async n => (n === 1 ? 1_500 : 0) })
  await using platform = await openScriptedPlatform(() => {}, { throttle, requestTimeoutMs: 150 })
  const answer = await importOnce(platform, SMALL_BATCH, context)
  expect(answer).toMatchObject(UNCERTAIN)
  expect(!answer.ok && answer.refusal.message).toContain('it took longer than 150 ms')
})
