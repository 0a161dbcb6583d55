import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { PlatformClient } from '#src/platform/client.ts'
import type { McpPage } from '#src/platform/list-page.ts'
import { MAX_ANSWER_BYTES, MAX_ROW_BYTES, MAX_SERVERS } from '#src/platform/read-body.ts'
import { collectRows, listRules } from '#test/support/collect-rows.ts'
import { alertRuleWire } from '#test/support/wire.ts'
import { mcpPage, openMcpList, readServers } from '../support/mcp-list.ts'
import { answerJson, openScriptedPlatform } from '../support/scripted-platform.ts'

const context = { runId: null, signal: new AbortController().signal }
/** Megabytes take a busy machine long. */
const PATIENT = { requestTimeoutMs: 60_000 }
const page = { page: 1, limit: 20, includeAccount: true }

/** `count` rows of junk as a JSON array. */
function junk(count: number, row = '0'): string {
  return `[${`${row},`.repeat(count - 1)}${row}]`
}

async function listing(data: string, of: (client: PlatformClient) => Promise<unknown>) {
  await using platform = await openScriptedPlatform(
    (_request, response) => answerJson(response, `{"request_id":"req-1","data":${data}}`),
    PATIENT,
  )
  return { answer: await of(platform.client), requests: platform.received.length }
}

const rulesOf = (client: PlatformClient) => listRules(client, context)
const tooLarge = (what: string) => ({
  ok: false,
  requests: 1,
  refusal: {
    kind: 'answer-too-large',
    code: 'AnswerTooLarge',
    requestId: 'req-1',
    retryable: false,
    message: `The answer is too large: ${what}.`,
    whatToDo: expect.stringContaining('FERRY_FOLDERS'),
  },
})

test('a page of more servers than fit is refused at once, with what to do', async () => {
  const data = `{"total":5,"servers":${junk(MAX_SERVERS + 1)}}`
  const { answer, requests } = await listing(data, client => client.listMcpPage(page, context))
  const refusal = { ...tooLarge('it has more than 1,000,000 rows').refusal, requestId: null }
  expect(answer).toMatchObject({ ok: false, refusal })
  expect(requests).toBe(1)
})

test('a listing of more than a million rows is read', async () => {
  // Rows that are known are only counted, in a tenth of the time.
  const taken = collectRows(new Set([hash('sha256', '0', 'latin1')]))
  const { answer } = await listing(junk(1_100_000), client => listRules(client, context, { taken }))
  expect(answer).toMatchObject({ ok: true, data: { rows: 1_100_000 } })
  expect(taken.known).toBe(1_100_000)
})

test('a row that is too long is quarantined, and the others are read', async () => {
  const name = 'x'.repeat(MAX_ROW_BYTES)
  const rows = [alertRuleWire({ id: 1 }), alertRuleWire({ id: 2, name }), alertRuleWire({ id: 3 })]
  const taken = collectRows()
  await listing(JSON.stringify(rows), client => listRules(client, context, { taken }))
  expect(taken.good.map(({ row }) => row.id)).toEqual([1, 3])
  expect(taken.quarantined).toEqual([
    { position: 1, id: null, reason: 'the row is longer than 1 MiB', raw: null },
  ])
  const servers = [{ server_id: 'a' }, { server_id: 'b', server_name: name }]
  const { answer } = await listing(JSON.stringify({ total: 2, servers }), client =>
    client.listMcpPage(page, context),
  )
  const tooLong = { id: null, reason: 'the row is longer than 1 MiB' }
  expect(answer).toMatchObject({ ok: true, data: { servers: [{ id: 'a' }, tooLong] } })
})

test('an answer that is long beside its rows is downloaded once, and says which setting makes it smaller', async () => {
  let sent = 0
  await using platform = await openScriptedPlatform((_request, response) => {
    sent += 1
    response.writeHead(200, { 'content-type': 'application/json', 'service-request-id': 'req-1' })
    const piece = Buffer.alloc(1024 * 1024, ' ')
    for (let bytes = 0; bytes <= MAX_ANSWER_BYTES; bytes += piece.length) response.write(piece)
    response.end()
  }, PATIENT)
  expect(await rulesOf(platform.client)).toMatchObject(tooLarge('it has more than 16 MiB beside its rows'))
  expect(sent).toBe(1)
  expect(platform.throttle.calls).toMatchObject([{ state: 'finished', end: { errorCode: 'AnswerTooLarge' } }])
})

test('pages of more rows together than fit end the reading', async () => {
  const same = Array<McpPage['servers'][number]>(399_999).fill(
    mcpPage([{ server_id: 'same', server_name: 'x' }]).servers[0]!,
  )
  let asked = 0
  const list = openMcpList([], {
    before: () => {
      asked += 1
      // Each page has one new server among 400,000 rows, and there seem to be a thousand pages.
      const { servers } = mcpPage([{ server_id: `new-${asked}` }])
      const data = { total: 400_000_000, servers: [...servers, ...same], drift: [] }
      return { ok: true, data, requestId: `req-${asked}`, requests: 1 }
    },
  })
  const reading = await readServers(list, { limit: 400_000, includeAccount: true }, () => false, context)
  expect(reading).toMatchObject({ status: 'refused', refusal: { code: 'AnswerTooLarge' } })
  // Those under way when the bound is reached are all that comes after it.
  expect(asked).toBeLessThanOrEqual(1 + 64 + 3)
})
