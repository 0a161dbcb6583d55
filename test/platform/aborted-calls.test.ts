import { expect, test } from 'vitest'
import { momentNow } from '#src/model/moment.ts'
import { listRules } from '#test/support/collect-rows.ts'
import { importOnce } from '#test/support/import-once.ts'
import { answerJson, failure, openScriptedPlatform, success } from '../support/scripted-platform.ts'
import { waitFor } from '../support/wait-for.ts'

const context = { runId: 7n, signal: new AbortController().signal }
const batch = {
  page_id: 2n ** 64n - 1n,
  method: 'email',
  subscribers: [{ recipient: 'ada@example.com', all: true as const, locale: 'en-US' }],
}

test('an abort ends a listing under way with the reason, and its permit is finished', async () => {
  await using platform = await openScriptedPlatform(() => {})
  const stop = new AbortController()
  const listing = listRules(platform.client, { runId: null, signal: stop.signal })
  await waitFor(() => platform.received.length === 1, { what: 'the request' })
  stop.abort(new Error('shutting down'))
  await expect(listing).rejects.toThrow('shutting down')
  expect(platform.throttle.calls).toMatchObject([{ state: 'finished', end: { httpStatus: null } }])
})

test('an abort during a back-off ends the listing with the reason', async () => {
  const stop = new AbortController()
  await using platform = await openScriptedPlatform((_request, response) => {
    answerJson(response, failure('ServiceUnavailable'), 503, { 'retry-after': '60' })
  })
  const listing = listRules(platform.client, { runId: null, signal: stop.signal })
  await waitFor(() => platform.throttle.calls[0]?.state === 'finished', { what: 'the first attempt' })
  stop.abort(new Error('shutting down'))
  await expect(listing).rejects.toThrow('shutting down')
})

test('an import that is aborted under way is an outcome; one not yet sent rejects', async () => {
  await using platform = await openScriptedPlatform(() => {})
  const stop = new AbortController()
  const sending = importOnce(platform, batch, { signal: stop.signal })
  await waitFor(() => platform.received.length === 1, { what: 'the request' })
  stop.abort(new Error('shutting down'))
  expect(await sending).toMatchObject({
    ok: false,
    requests: 1,
    refusal: { kind: 'no-answer', certain: false },
  })
  const call = { account: 'default', operation: 'import-subscribers', runId: null } as const
  const permit = await platform.throttle.acquirePermit(call, context.signal)
  const renewPermit = () => Promise.reject(new Error('it is a fresh one'))
  await expect(
    platform.client.importSubscribers(batch, { permit, renewPermit, signal: stop.signal }),
  ).rejects.toThrow('shutting down')
  expect(platform.received).toHaveLength(1)
})

test('an import that is aborted while its expired permit is renewed is not sent', async () => {
  await using platform = await openScriptedPlatform(() => {})
  const stop = new AbortController()
  const call = { account: 'default', operation: 'import-subscribers', runId: null } as const
  const permit = await platform.throttle.acquirePermit(call, context.signal)
  const expired = { ...permit, askedAt: { ...momentNow(), monotonicMs: performance.now() - 60_000 } }
  const renewPermit = async () => {
    stop.abort(new Error('shutting down'))
    return { ...permit, askedAt: momentNow() }
  }
  const sending = platform.client.importSubscribers(batch, {
    permit: expired,
    renewPermit,
    signal: stop.signal,
  })
  await expect(sending).rejects.toThrow('shutting down')
  expect(platform.received).toHaveLength(0)
})

test.for([
  ['while the machine slept, which its monotonic clock does not count', { wallMs: -60_000 }, 1],
  ['although the clock of the wall was set back', { monotonicMs: -60_000, wallMs: 3_600_000 }, 1],
  ['not at all: the clock of the wall was set back', { wallMs: 3_600_000 }, 0],
] as const)('a permit has become too old %s: it is renewed so often', async ([, shift, times]) => {
  await using platform = await openScriptedPlatform((_request, response) => answerJson(response, success({})))
  const call = { account: 'default', operation: 'import-subscribers', runId: null } as const
  const permit = await platform.throttle.acquirePermit(call, context.signal)
  const now = momentNow()
  const { monotonicMs = 0, wallMs = 0 } = shift as { monotonicMs?: number; wallMs?: number }
  const askedAt = { monotonicMs: now.monotonicMs + monotonicMs, wallMs: now.wallMs + wallMs }
  let renewed = 0
  const { answer } = await platform.client.importSubscribers(batch, {
    permit: { ...permit, askedAt },
    renewPermit: async () => {
      renewed += 1
      return { ...permit, askedAt: momentNow() }
    },
    signal: context.signal,
  })
  expect({ ok: answer.ok, renewed }).toEqual({ ok: true, renewed: times })
})
