import type { Answer } from '#src/platform/answer.ts'
import type { PlatformClient } from '#src/platform/client.ts'
import type { ImportBody } from '#src/platform/contract.ts'
import type { Throttle } from '#src/platform/throttle.ts'

/** Sends a batch once with a permit of `throttle`, as a worker does with one of its claim, and tells it how the call ended. */
export async function importOnce(
  { client, throttle }: { readonly client: PlatformClient; readonly throttle: Throttle },
  batch: ImportBody,
  { signal }: { readonly signal: AbortSignal },
): Promise<Answer<null>> {
  const call = { account: 'default', operation: 'import-subscribers', runId: null } as const
  const { answer, permit, end } = await client.importSubscribers(batch, {
    permit: await throttle.acquirePermit(call, signal),
    renewPermit: async (expired, stopped) => {
      await throttle.returnPermit(expired)
      return throttle.acquirePermit(call, stopped)
    },
    signal,
  })
  if (end) await throttle.finishCall(permit, end)
  else if (permit) await throttle.returnPermit(permit)
  return answer
}

/** A batch of one subscriber. */
export const SMALL_BATCH: ImportBody = {
  page_id: 1n,
  method: 'email',
  subscribers: [{ recipient: 'a@b.c', all: true, locale: 'en-US' }],
}

/** What `importOnce` returns of a call whose outcome is unknown. */
export const UNCERTAIN = {
  ok: false,
  requests: 1,
  refusal: { kind: 'no-answer', code: 'NoAnswer', retryable: true, certain: false },
} as const
