import { expect, test } from 'vitest'
import { MAX_BODY_BYTES, MAX_ROWS, MAX_VALUES, mayHoldTooMany } from '#src/platform/answer-size.ts'
import type { PlatformClient } from '#src/platform/client.ts'
import { openMcpList } from '../support/mcp-list.ts'
import { answerJson, openScriptedPlatform } from '../support/scripted-platform.ts'

const context = { runId: null, signal: new AbortController().signal }
const page = { page: 1, limit: 20, includeAccount: true }

/** `count` rows of junk as a JSON array. */
function junk(count: number, row = '0'): string {
  return `[${`${row},`.repeat(count - 1)}${row}]`
}

async function listing(data: string, of: (client: PlatformClient) => Promise<unknown>) {
  await using platform = await openScriptedPlatform((_request, response) =>
    answerJson(response, `{"request_id":"req-1","data":${data}}`),
  )
  return { answer: await of(platform.client), requests: platform.received.length }
}

const rulesOf = (client: PlatformClient) => client.listAlertRules(0n, context)
const serversOf = (client: PlatformClient) => client.listMcpPage(page, context)
const tooLarge = (what: string) => ({
  ok: false,
  requests: 1,
  refusal: {
    kind: 'answer-too-large',
    code: 'AnswerTooLarge',
    requestId: 'req-1',
    retryable: false,
    message: `The answer is too large: it has more than ${what}.`,
    whatToDo: expect.stringContaining('FERRY_FOLDERS'),
  },
})

test('a listing of more than a million rows is refused at once, with what to do', async () => {
  const rows = junk(MAX_ROWS + 1)
  expect(await listing(rows, rulesOf)).toMatchObject({ answer: tooLarge('1,000,000 rows'), requests: 1 })
  const data = `{"total":5,"servers":${rows}}`
  expect(await listing(data, serversOf)).toMatchObject({ answer: tooLarge('1,000,000 rows'), requests: 1 })
})

test('a listing of a million rows is read', async () => {
  const { answer } = await listing(junk(MAX_ROWS), rulesOf)
  expect(answer).toMatchObject({ ok: true })
})

test('twenty million rows of junk in 40 MB are refused before they are parsed', {
  timeout: 60_000,
}, async () => {
  const { answer } = await listing(junk(20_000_000), rulesOf)
  expect(answer).toMatchObject({ ...tooLarge('16,000,000 values'), refusal: { requestId: null } })
})

test('values are counted at any depth, and not where few bytes cannot hold many', () => {
  expect(mayHoldTooMany(Buffer.alloc(MAX_VALUES, ','))).toBe(false)
  expect(mayHoldTooMany(Buffer.alloc(MAX_VALUES + 1, ','))).toBe(true)
  expect(mayHoldTooMany(Buffer.alloc(MAX_VALUES + 1, '['))).toBe(true)
  expect(mayHoldTooMany(Buffer.alloc(MAX_VALUES + 1, '{'))).toBe(true)
  const most = Buffer.alloc(MAX_VALUES + 1, ' ').fill(',', 0, MAX_VALUES - 1)
  expect(mayHoldTooMany(most)).toBe(false)
  most[MAX_VALUES] = ','.charCodeAt(0)
  expect(mayHoldTooMany(most)).toBe(true)
})

test('a body over the cap is downloaded once, and says which setting makes it smaller', {
  timeout: 60_000,
}, async () => {
  let sent = 0
  await using platform = await openScriptedPlatform((_request, response) => {
    sent += 1
    response.writeHead(200, { 'content-type': 'application/json', 'service-request-id': 'req-1' })
    const piece = Buffer.alloc(16 * 1024 * 1024, ' ')
    for (let bytes = 0; bytes <= MAX_BODY_BYTES; bytes += piece.length) response.write(piece)
    response.end()
  })
  expect(await rulesOf(platform.client)).toMatchObject(tooLarge('256 MiB'))
  expect(sent).toBe(1)
  expect(platform.throttle.calls).toMatchObject([{ state: 'finished', end: { errorCode: 'AnswerTooLarge' } }])
})

test('pages of more rows together than fit end the reading', async () => {
  const { readMcpServers } = await import('#src/platform/mcp-listing.ts')
  const row = { server_id: 'same', server_name: 'x' }
  let asked = 0
  const list = openMcpList([], {
    before: () => {
      asked += 1
      // Each page has one new server among 400,000 rows, and there seem to be a thousand pages.
      const servers = Array(400_000).fill(row)
      servers[0] = { server_id: `new-${asked}` }
      const data = { total: 400_000_000, servers, mayBeDirty: false }
      return { ok: true, data, requestId: `req-${asked}`, requests: 1 }
    },
  })
  const reading = await readMcpServers(list, { limit: 400_000, includeAccount: true }, () => false, context)
  expect(reading).toMatchObject({ status: 'refused', refusal: { code: 'AnswerTooLarge' } })
  // Those under way when the bound is reached are all that comes after it.
  expect(asked).toBeLessThanOrEqual(1 + 64 + 3)
})
