import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decide } from '#src/imports/sending/decide.ts'
import { BATCH, refused, STATE } from '../imports/outcomes.ts'
import { importOnce } from '../support/import-once.ts'
import { CANARY, openScriptedPlatform } from '../support/scripted-platform.ts'

/*
 * The table of what an answer proves, from the contract alone: every status with every kind of body, whole and cut short. An
 * answer is certain only with a code of the contract, the status that the contract gives it, and a request_id in its body.
 */

const STATUS_OF: Readonly<Record<string, number>> = {
  InvalidParameter: 400,
  BadRequest: 400,
  InvalidContentType: 400,
  ResourceNotFound: 400,
  NoLicense: 400,
  ReferenceExist: 400,
  Unauthorized: 401,
  BalanceNotEnough: 402,
  AccessDenied: 403,
  RouteNotFound: 404,
  MethodNotAllowed: 405,
  UndonedOrderExist: 409,
  EntityTooLarge: 413,
  RequestLocked: 423,
  RequestVerifyRequired: 428,
  DangerousOperation: 428,
  RequestTooFrequently: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
}
const STATUSES = [
  200, 202, 301, 302, 303, 307, 400, 401, 402, 403, 404, 405, 407, 408, 409, 413, 422, 423, 425, 428, 429,
  500, 502, 503, 504, 507,
]
const CODES = [...Object.keys(STATUS_OF), 'upstream_timeout', 'constructor', 'OK', null]
type Row = { status: number; code: string | null; id: string | null; cut: boolean }
const rows: Row[] = STATUSES.flatMap(status => [
  ...CODES.flatMap(code => ['r-1', null].map(id => ({ status, code, id, cut: false }))),
  ...['', ' \t '].map(id => ({ status, code: codeOf(status), id, cut: false })),
  ...[codeOf(status), 'upstream_timeout', null].map(code => ({ status, code, id: 'r-1', cut: true })),
]).filter(row => !(row.code === 'OK' && row.status < 300))

function codeOf(status: number): string {
  return Object.keys(STATUS_OF).find(code => STATUS_OF[code] === status) ?? 'ServiceUnavailable'
}

/** What the body is without a code: a gateway's page. */
function bodyOf({ code, id }: Row): string {
  if (code === null) return `<html>${id}</html>`
  return JSON.stringify({ ...(id === null ? {} : { request_id: id }), error: { code, message: 'No.' } })
}

const isPlatforms = ({ status, code, id, cut }: Row) =>
  !cut && code !== null && !!id?.trim() && STATUS_OF[code] === status
const isCertain = (row: Row) => row.status === 429 || (isPlatforms(row) && row.code !== 'InternalError')

describe('an answer', () => {
  let next: Row
  let platform: Awaited<ReturnType<typeof openScriptedPlatform>>
  beforeAll(async () => {
    platform = await openScriptedPlatform((_request, response) => {
      const body = bodyOf(next)
      response.writeHead(next.status, {
        'content-type': next.code === null ? 'text/html' : 'application/json',
        'content-length': body.length,
        // A gateway has its own header, which proves nothing.
        'x-request-id': 'gateway-1',
      })
      if (next.cut) response.write(body.slice(0, -1), () => response.destroy())
      else response.end(body)
    })
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  const context = { runId: null, signal: new AbortController().signal }
  const batch = { page_id: 1n, method: 'email', subscribers: [] }

  test.each(STATUSES)(
    'with HTTP %i is certain, and ends the call in the call log, only as the contract says',
    async status => {
      for (const row of rows.filter(one => one.status === status)) {
        next = row
        const answer = await importOnce(platform, batch, context)
        const { end } = platform.throttle.calls.at(-1)!
        if (answer.ok) throw new Error(`accepted: ${JSON.stringify(row)}`)
        const { refusal } = answer
        expect([row, refusal.certain]).toEqual([row, isCertain(row)])
        expect([row, end?.answeredAtMs != null]).toEqual([row, isPlatforms(row)])
        expect(JSON.stringify(refusal)).not.toContain(CANARY)

        const [resending, holding] = [true, false].map(resend =>
          decide(BATCH, refused(refusal), { ...STATE, resend }),
        )
        const isUncertain = !isCertain(row)
        expect([row, resending]).toMatchObject([row, { disposition: isUncertain ? { resent: true } : {} }])
        if (!isUncertain) expect(resending?.disposition).not.toMatchObject({ resent: true })
        expect([row, holding?.disposition.to === 'uncertain']).toEqual([row, isUncertain])
        // However often it is answered so, the import stops.
        expect([row, stopsAfter(refusal)]).toEqual([row, true])
      }
    },
  )

  test.each([
    ['no request_id in its body', '{"data":{}}'],
    ['an empty one', '{"request_id":"","data":{}}'],
    ['no data', '{"request_id":"r"}'],
    ['a page', '<html>'],
  ])('with HTTP 200 and %s is no success', async (_what, body) => {
    await using one = await openScriptedPlatform((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'service-request-id': 'g' }).end(body)
    })
    const answer = await importOnce(one, batch, context)
    expect(answer).toMatchObject({ ok: false, refusal: { certain: false } })
    expect(one.throttle.calls[0]?.end?.answeredAtMs).toBe(null)
  })
})

/** Whether an import pauses if every call ends so; a 429 closes the limit instead, and costs the import nothing. */
function stopsAfter(refusal: Parameters<typeof refused>[0]): boolean {
  if (refusal.httpStatus === 429) return true
  let state = STATE
  for (let calls = 1; calls <= 12; calls += 1) {
    const decision = decide(BATCH, refused(refusal), state)
    if (decision.pause) return true
    state = { ...state, ...decision }
  }
  return false
}
