import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { collectRows, listRules } from '#test/support/collect-rows.ts'
import { context } from '../support/platform-calls.ts'
import { answerJson, failure, openScriptedPlatform, success } from '../support/scripted-platform.ts'
import { alertRuleWire } from '../support/wire.ts'

const ROWS = 4_000
const body = (name: string, from = 1) =>
  JSON.stringify(
    success(Array.from({ length: ROWS }, (_, n) => alertRuleWire({ id: from + n, name: `${name} ${n}` }))),
  )
const WRONG = body('wrong', 2_000)
const RIGHT = body('right')
/** In the middle of a row, after 3,000 others. */
const MIDDLE = WRONG.indexOf('"wrong 3000"') + 3
const ERROR = JSON.stringify(failure('InternalError')).slice(1, -1)

function head(response: ServerResponse, headers = {}): ServerResponse {
  return response.writeHead(200, { 'content-type': 'application/json', ...headers })
}

/** How a first answer goes wrong after some thousand rows. */
const CUT: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'whose connection breaks': response => {
    head(response).write(WRONG.slice(0, MIDDLE), () => setTimeout(() => response.destroy(), 50))
  },
  'that ends too early': response => void head(response).end(WRONG.slice(0, MIDDLE)),
  'whose gzip is cut': response => {
    const packed = gzipSync(WRONG)
    head(response, { 'content-encoding': 'gzip' }).end(packed.subarray(0, packed.length - 2_000))
  },
  'with a damaged row': response => {
    head(response).end(`${WRONG.slice(0, MIDDLE)}"${WRONG.slice(MIDDLE)}`)
  },
  'with something else between two rows': response => {
    head(response).end(WRONG.replace('},{"id":5000', '};{"id":5000'))
  },
  'that is an error after all': response => {
    head(response).end(WRONG.replace(/}$/, `,${ERROR}}`))
  },
  'whose data is something else after all': response => {
    head(response).end(WRONG.replace(/}$/, ',"data":{}}'))
  },
}

for (const [how, cut] of Object.entries(CUT)) {
  test(`a listing ${how} is asked for again, and exactly the second answer counts`, async () => {
    await using platform = await openScriptedPlatform((_request, response, n) =>
      n === 1 ? cut(response) : answerJson(response, RIGHT),
    )
    const taken = collectRows()
    const answer = await listRules(platform.client, context, { taken })
    expect(answer).toMatchObject({ ok: true, requests: 2, data: { rows: ROWS } })
    expect(taken.begun).toBeGreaterThan(1)
    expect(taken.good.map(({ row }) => row.name)).toEqual(
      Array.from({ length: ROWS }, (_, n) => `right ${n}`),
    )
    expect(taken.good.map(({ position }) => position)).toEqual([...Array(ROWS).keys()])
    expect(platform.throttle.calls.map(({ state }) => state)).toEqual(['finished', 'finished'])
  })
}

test('of two members called data, the last one counts: rows, or null', async () => {
  const rows = RIGHT.slice(RIGHT.indexOf('['), RIGHT.lastIndexOf(']') + 1)
  const last = ['null', rows]
  await using platform = await openScriptedPlatform((_request, response, n) =>
    answerJson(response, WRONG.replace(/}$/, `,"data":${last[n - 1]}}`)),
  )
  for (const length of [0, ROWS]) {
    const taken = collectRows()
    const answer = await listRules(platform.client, context, { taken })
    expect(answer).toMatchObject({ ok: true, requests: 1, data: { rows: length } })
    expect(taken.good).toHaveLength(length)
    expect(taken.good.every(({ row }) => row.name.startsWith('right'))).toBe(true)
  }
})

const TIMEOUT_MS = 400

/** Takes its time over the first steps. */
function slowly(times: number) {
  let left = times
  return async () => {
    if (left-- > 0) await delay(TIMEOUT_MS * 1.5)
  }
}

for (const steps of [1, 3]) {
  test(`a reader that is slow with the first steps (${steps}) is no slow platform`, async () => {
    await using platform = await openScriptedPlatform((_request, response) => answerJson(response, RIGHT), {
      requestTimeoutMs: TIMEOUT_MS,
    })
    expect(await listRules(platform.client, context, { pause: slowly(steps) })).toMatchObject({
      ok: true,
      requests: 1,
    })
  })
}

test('a call counts until its answer had come, not until Ferry has read it', async () => {
  await using platform = await openScriptedPlatform((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    response.end(gzipSync(RIGHT))
  })
  await listRules(platform.client, context, { pause: slowly(2) })
  const readAtMs = performance.now()
  const [call] = platform.throttle.calls
  expect(readAtMs - (call?.end?.answeredAtMs ?? readAtMs)).toBeGreaterThan(TIMEOUT_MS)
})

test('a platform that stalls in the middle of its rows is timed out, however slow the sink was before', async () => {
  await using platform = await openScriptedPlatform(
    (_request, response) => void head(response).write(RIGHT.slice(0, MIDDLE)),
    { requestTimeoutMs: TIMEOUT_MS },
  )
  const answer = await listRules(platform.client, context, { pause: slowly(2) })
  expect(answer).toMatchObject({ ok: false, requests: 3, refusal: { kind: 'no-answer', httpStatus: 200 } })
  expect(answer.ok || answer.refusal.message).toContain('FERRY_REQUEST_TIMEOUT')
})

test('what is outside the contract on a page that is read again is told at once', async () => {
  const servers = Array.from({ length: 3 }, (_, n) => ({ server_id: `s${n}`, extra: 'x' }))
  const page = JSON.stringify(success({ servers, total: 3 }))
  await using platform = await openScriptedPlatform((_request, response, n) => {
    if (n > 1) answerJson(response, page)
    else
      head(response).write(page.slice(0, page.lastIndexOf(']')), () =>
        setTimeout(() => response.destroy(), 50),
      )
  })
  const ask = { page: 1, limit: 10, includeAccount: true, readBefore: new Map() }
  expect(await platform.client.listMcpPage(ask, context)).toMatchObject({
    requests: 2,
    data: {
      servers: [{ id: 's0' }, { id: 's1' }, { id: 's2' }],
      drift: [{ field: 'extra', type: 'string' }],
    },
  })
})
