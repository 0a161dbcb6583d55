import type { CallEnd } from '#src/model/call.ts'

/** The end of a call that the platform has answered at this moment: with 200, unless `end` says otherwise. */
export function answeredNow(end: Partial<CallEnd> = {}): CallEnd {
  return {
    answeredAtMs: performance.now(),
    httpStatus: 200,
    errorCode: null,
    requestId: 'r',
    isOverLimit: false,
    retryAfterMs: null,
    ...end,
  }
}
