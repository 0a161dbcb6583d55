import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { ClaimResult } from '#src/imports/sending/claims.ts'
import { type Sender, sendBatch } from '#src/imports/sending/send.ts'
import type { Permit } from '#src/model/call.ts'
import { momentNow } from '#src/model/moment.ts'

const WAIT_MS = 40

const permitOf = (callId: bigint): Permit => ({
  callId,
  call: { account: 'default', operation: 'import-subscribers', runId: null },
  askedAt: momentNow(),
})

test('a permit that expired is given back, and another is asked for as often as the answer says', async () => {
  const asked: number[] = []
  const steps: string[] = []
  const answers: ClaimResult[] = [
    { what: 'wait', waitMs: WAIT_MS, pollSoon: false },
    { what: 'wait', waitMs: WAIT_MS, pollSoon: true },
    { what: 'claimed', claim: { batchId: 1n, claim: 'c', permit: permitOf(2n) } },
  ]
  const sender = {
    steps: {
      loadRows: async () => [],
      returnPermit: async (claim: string, { callId }: Permit) => steps.push(`returned ${callId} of ${claim}`),
      claim: async () => {
        asked.push(performance.now())
        return answers.shift()
      },
      persistOutcome: async ({ call }: { call: Permit }) => {
        steps.push(`sent with ${call.callId}`)
        return 'state'
      },
    },
    client: {
      importSubscribers: (_body: unknown, { permit, renewPermit, signal }: never) =>
        (renewPermit as (expired: Permit, signal: AbortSignal) => Promise<Permit>)(permit, signal),
    },
    pageId: 1n,
    method: 'email',
    cutOff: new AbortController().signal,
    log: pino({ level: 'silent' }),
  } as never as Sender
  expect(await sendBatch(sender, { batchId: 1n, claim: 'c', permit: permitOf(1n) })).toBe('state')
  expect(steps).toEqual(['returned 1 of c', 'sent with 2'])
  const waited = asked.slice(1).map((at, n) => at - (asked[n] ?? 0) >= WAIT_MS / 2)
  expect(waited).toEqual([true, true])
})
