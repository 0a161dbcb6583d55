import { type Answer, envelope, jsonHeaders, type Result } from './answer.ts'
import { ERRORS, isErrorCode, type Refusal } from './errors.ts'
import type { Applied, Fault } from './faults.ts'
import { wireJson } from './json.ts'
import { Payload } from './payload.ts'

/** No answer: the connection is closed (`drop`) or stays open without an end (`hang`). */
export type NoAnswer = 'drop' | 'hang'

const GATEWAY_PAGE = '<html><head><title>Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>'
const MIB = 1024 * 1024

/** The faulty answer. `perform` does the work, all or half, and returns its result. */
export function faultAnswer(
  fault: Fault,
  requestId: string,
  perform: (applied: true | 'half') => Result,
): Answer | NoAnswer {
  if ('applied' in fault) {
    if (fault.applied !== false) perform(fault.applied)
    return withoutWork(fault, requestId)
  }
  return spoil(fault, requestId, perform(true))
}

type InsteadOfWork = Extract<Fault, { applied: Applied }>

function withoutWork(fault: InsteadOfWork, requestId: string): Answer | NoAnswer {
  if (fault.kind === 'error') return envelope(requestId, refusalOf(fault))
  if (fault.kind === 'html') return plain(fault.status, GATEWAY_PAGE, { 'Content-Type': 'text/html' })
  return fault.kind
}

function refusalOf(fault: Extract<Fault, { kind: 'error' }>): Refusal {
  const [status, usual] = isErrorCode(fault.code) ? ERRORS[fault.code] : [500, 'Something went wrong.']
  return {
    ok: false,
    code: fault.code,
    status: fault.status ?? status,
    message: fault.message ?? usual,
    retryAfterS: fault.retryAfterS ?? null,
  }
}

function spoil(fault: Exclude<Fault, InsteadOfWork>, requestId: string, result: Result): Answer {
  const real = envelope(requestId, result)
  const twoHundred = (body: object) => plain(200, wireJson(body), real.headers)
  switch (fault.kind) {
    case 'late':
      return real
    case 'truncate':
      return { ...real, cut: true }
    case 'huge':
      return { ...real, body: [...real.body, ...blanks(fault.bytes)] }
    case 'raw':
      return plain(fault.status, fault.body, jsonHeaders(requestId, fault.contentType))
    case 'empty':
      return { ...real, body: [] }
    case 'error-in-2xx':
      return twoHundred({
        request_id: requestId,
        error: { code: fault.code, message: 'Something went wrong.' },
      })
    case 'no-data':
      return twoHundred({ request_id: requestId })
    case 'no-request-id':
      return { ...real, body: [new Payload('{"data":'), ...real.body.slice(1)] }
    case 'wrong-types':
      return twoHundred({ request_id: 7, data: { total: 'many', servers: {} } })
  }
}

function plain(status: number, body: string, headers: Record<string, string>): Answer {
  return { status, code: null, headers, body: [new Payload(body)] }
}

/** At least this many bytes of white space: the same piece, many times. */
function blanks(bytes: number): Payload[] {
  const piece = new Payload(Buffer.alloc(MIB, ' '))
  return Array.from({ length: Math.ceil(bytes / MIB) }, () => piece)
}
