import type { Secret } from '#src/model/secret.ts'
import type { NotifySettings } from '#src/model/settings.ts'
import { openRoute, type ProxyChoice } from '#src/platform/dispatcher.ts'
import { faultOf } from '#src/platform/fault.ts'
import type { Posting } from './message.ts'
import { lookUpPublic, PrivateAddress, refusePrivateHost } from './private-addresses.ts'

/** How a call ended. `why` says what was wrong with it, in words without the address. */
export type CallResult =
  | { readonly ok: true; readonly httpStatus: number }
  | { readonly ok: false; readonly httpStatus: number | null; readonly why: string }

/** Calls one address. Dispose closes its connections. */
export type Caller = AsyncDisposable & {
  /** Posts, or gets if there is nothing to post. Never throws; ends within `CALL_WITHIN_MS`, or once `signal` aborts. */
  call(posting: Posting | null, signal: AbortSignal): Promise<CallResult>
}

/** A receiver that takes longer is as good as down. It may have taken the message all the same. */
const CALL_WITHIN_MS = 10_000

/** What is read of an answer, so that its connection can be used again. Nothing of it is kept. */
const MAX_ANSWER_BYTES = 16_384

/**
 * Opens the way to an address. A redirect is not followed: it could lead anywhere. Without private addresses, the address
 * that a connection is made to is checked; a proxy makes its own. An address in a file may be another at each call.
 */
export function openCaller(
  address: Secret,
  setting: string,
  { allowsPrivate }: Pick<NotifySettings, 'allowsPrivate'>,
  proxy: ProxyChoice,
  callWithinMs = CALL_WITHIN_MS,
): Caller {
  const lookup = allowsPrivate ? undefined : lookUpPublic
  const openTo = ({ origin }: URL) => ({
    origin,
    ...openRoute(origin, setting, proxy, callWithinMs, lookup),
  })
  let route = openTo(new URL(address.reveal()))

  return {
    async call(posting, signal) {
      const timeout = AbortSignal.timeout(callWithinMs)
      const url = new URL(address.reveal())
      if (url.origin !== route.origin) {
        void route.dispatcher.close()
        route = openTo(url)
      }
      const { dispatcher, where } = route
      try {
        if (!allowsPrivate) refusePrivateHost(url)
        const { statusCode, body } = await dispatcher.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: posting ? 'POST' : 'GET',
          ...(posting && { headers: posting.headers, body: posting.body }),
          signal: AbortSignal.any([signal, timeout]),
        })
        await body.dump({ limit: MAX_ANSWER_BYTES, signal: timeout }).catch(() => {})
        return resultOf(statusCode)
      } catch (error) {
        return { ok: false, httpStatus: null, why: `${whyOf(error, timeout)} ${where}` }
      }
    },
    [Symbol.asyncDispose]: () => route.dispatcher.destroy(),
  }

  function whyOf(error: unknown, timeout: AbortSignal): string {
    const cause = error instanceof Error && error.cause ? error.cause : error
    if (cause instanceof PrivateAddress) return cause.message
    if (timeout.aborted) return `there was no answer within ${callWithinMs / 1_000} s`
    return faultOf(error).words
  }
}

function resultOf(httpStatus: number): CallResult {
  if (httpStatus >= 200 && httpStatus < 300) return { ok: true, httpStatus }
  const isRedirect = httpStatus >= 300 && httpStatus < 400
  const why = `it answered HTTP ${httpStatus}${isRedirect ? ', a redirect, which Ferry does not follow' : ''}`
  return { ok: false, httpStatus, why }
}
