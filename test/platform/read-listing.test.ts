import { hash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { AlertRule } from '#src/model/alert-rule.ts'
import { MAX_ROW_BYTES } from '#src/platform/answer-size.ts'
import { listPageRequest, type ReadServers } from '#src/platform/list-page.ts'
import { listRulesRequest } from '#src/platform/list-rules.ts'
import { readListing } from '#src/platform/read-listing.ts'
import { ALERT_RULES } from '#src/platform/row-kinds.ts'
import type { RowSink } from '#src/platform/row-sink.ts'
import { collectRows } from '#test/support/collect-rows.ts'
import { alertRuleWire } from '#test/support/wire.ts'

const HEAD = { httpStatus: 200, headers: { 'content-type': 'application/json' } }
const same = (text: string) => text
const ANSWERED = {
  kind: 'answered',
  permit: { callId: '1', askedAt: { monotonicMs: 0, wallMs: 0 } } as never,
  ...HEAD,
  answeredAtMs: 0,
} as const

async function* chunksOf(text: string, size = text.length) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

function read(text: string, sink: RowSink<AlertRule> = collectRows(), size?: number) {
  return readListing(ALERT_RULES, chunksOf(text, size), sink)
}

const rule = (id: number, fields = {}) => JSON.stringify(alertRuleWire({ id, ...fields }))
const listing = (...rows: string[]) => `{"request_id":"r","data":[${rows.join(',')}]}`

test('of rows that come as `data` twice, only the last ones count', async () => {
  const last = rule(3, { broken: [] })
  const twice = `{"data":[${rule(1, { env: 1 })},${rule(2)}],"request_id":"r","data":[${last}]}`
  const once = await read(listing(last))
  for (const size of [1, 700, twice.length]) {
    const taken = collectRows()
    const end = await read(twice, taken, size)
    expect(taken.good.map(({ row, position }) => [row.id, position])).toEqual([[3, 0]])
    expect(end).toMatchObject({ rows: 1, dataHash: once.dataHash, drift: [{ field: 'broken' }] })
  }
})

test('if `data` comes twice and the last time as null, there is no row', async () => {
  for (const data of ['null', '[]']) {
    const taken = collectRows()
    const request = listRulesRequest(0n, taken)
    const text = `{"request_id":"r","data":[${rule(1)}],"data":${data}}`
    const body = await request.receive(HEAD, chunksOf(text))
    const verdict = request.read({ ...ANSWERED, body }, same)
    expect(verdict).toMatchObject({ ok: true, data: { rows: 0, dataHash: hash('sha256', '', 'hex') } })
    expect(taken.good).toEqual([])
  }
})

test('servers that come twice, or are null in the end, or are no JSON', async () => {
  const request = listPageRequest({ page: 1, limit: 20, includeAccount: true })
  const page = async (servers: string) => {
    const body = await request.receive(HEAD, chunksOf(`{"request_id":"r","data":{"total":2,${servers}}}`))
    return request.read({ ...ANSWERED, body }, same)
  }
  const with_ = (...raw: unknown[]) => ({ ok: true, data: { servers: raw.map(one => ({ raw: one })) } })
  expect(await page('"servers":[1,2],"servers":[3]')).toMatchObject(with_(3))
  expect(await page('"servers":[1,2],"servers":null')).toMatchObject(with_())
  expect(await page('"servers":[{"server_id":"\\u0000"}]')).toMatchObject({
    data: { servers: [{ id: '\u2400', altered: ['server_id'] }] },
  })
  expect(await page('"servers":[1,nul]')).toMatchObject({
    ok: false,
    refusal: { message: expect.stringContaining(': 1 rows of the list are whole') },
  })
})

test('a server that comes again is not parsed again, unless its text is another', async () => {
  const readBefore: ReadServers = new Map()
  const request = listPageRequest({ page: 1, limit: 20, includeAccount: true, readBefore })
  const page = async (...names: string[]) => {
    const servers = names.map((server_name, n) => ({ server_id: `s${n}`, server_name }))
    const text = JSON.stringify({ request_id: 'r', data: { total: 2, servers } })
    const verdict = request.read({ ...ANSWERED, body: await request.receive(HEAD, chunksOf(text)) }, same)
    return verdict.ok ? verdict.data.servers : []
  }
  const first = await page('a', 'b')
  const again = await page('a', 'B')
  expect(again[0]).toBe(first[0])
  expect(again[1]).toMatchObject({ id: 's1', row: { server_name: 'B' } })
  expect(readBefore.size).toBe(3)
})

test('a row that is no JSON spoils the whole, however long it is', async () => {
  const long = `{"id":1,"name":${'x'.repeat(MAX_ROW_BYTES)}}`
  for (const broken of ['nul', '{"id":1,}', long]) {
    const { around } = await read(listing(rule(1), broken, rule(2)))
    expect(around).toHaveLength(0)
  }
  expect((await read(listing(rule(1)))).around.toString()).toBe('{"request_id":"r","data":[]}')
})

test('a damaged listing is refused with the place of the damage, however it is cut', async () => {
  const whole = listing(rule(1), rule(2), rule(3))
  const [second, third] = [whole.indexOf(rule(2)), whole.indexOf(rule(3))]
  const damaged: [text: string, rows: number, bytes: number][] = [
    [whole.replace(rule(2), '{"id":2,}'), 1, second],
    [whole.slice(0, third + 20), 2, third],
    [whole.slice(0, third - 1), 2, third - 1],
    [whole.replace(`${rule(2)},`, `${rule(2)};`), 2, third - 1],
    [
      whole.replace('"data":', '"data":[1,2],"data":').replace(rule(1), 'nul'),
      0,
      whole.indexOf(rule(1)) + 13,
    ],
  ]
  for (const [text, rows, bytes] of damaged) {
    for (const size of [1, 700, text.length]) {
      const request = listRulesRequest(0n, collectRows())
      const body = await request.receive(HEAD, chunksOf(text, size))
      const verdict = request.read({ ...ANSWERED, body }, same)
      expect(verdict).toMatchObject({
        ok: false,
        refusal: {
          message: `The answer (HTTP 200) is not valid JSON: ${rows} rows of the list are whole, and what follows after ${bytes} bytes (unpacked) is damaged or cut off.`,
        },
      })
    }
  }
})

test('a row nested too deep to be read exactly is quarantined alone', async () => {
  const deep = `{"id":18446744073709551615,"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
  const sink = collectRows()
  const { around, rows } = await read(listing(rule(1), deep, rule(2)), sink)
  expect({ around: around.toString(), rows }).toEqual({ around: '{"request_id":"r","data":[]}', rows: 3 })
  expect(sink).toMatchObject({
    quarantined: [{ position: 1, id: null, reason: expect.stringContaining('too deep') }],
  })
})

test('a fault of Ferry is no row that does not parse', async () => {
  const faulty = {
    ...ALERT_RULES,
    toRow() {
      throw new Error('a fault of Ferry')
    },
  }
  const reading = readListing(faulty, chunksOf(listing(rule(1))), collectRows())
  await expect(reading).rejects.toThrow('a fault of Ferry')
})

test('rows in another order, or one more that is too long, have another hash', async () => {
  const long = `"${'x'.repeat(MAX_ROW_BYTES)}"`
  const hashes = []
  for (const rows of [
    [rule(1), rule(2)],
    [rule(2), rule(1)],
    [rule(1), long, rule(2)],
    [rule(1), rule(2), long],
  ]) {
    hashes.push((await read(listing(...rows))).dataHash)
  }
  expect(new Set(hashes).size).toBe(4)
})

test('known rows are rows: positions and the hash count them, and one that is too long is none of them', async () => {
  const long = `"${'x'.repeat(MAX_ROW_BYTES)}"`
  const text = listing(rule(1), rule(2), long, rule(3))
  const unknown = collectRows()
  const { dataHash } = await read(text, unknown)
  const known = unknown.good.slice(0, 2).map(({ digest }) => digest)
  const taken = collectRows(new Set([...known, hash('sha256', '', 'latin1')]))
  expect(await read(text, taken)).toMatchObject({ rows: 4, dataHash })
  expect(taken).toMatchObject({ known: 2, good: [{ position: 3 }], quarantined: [{ position: 2, id: null }] })
})

test('a quarantined row is kept exactly, with its undeclared fields as drift', async () => {
  const taken = collectRows()
  const row = rule(1, { name: 7, creator_id: 'BIG', env: {} }).replace('"BIG"', '12345678901234567')
  expect(await read(listing(row), taken)).toMatchObject({ drift: [{ field: 'env', type: 'object' }] })
  expect(taken.quarantined[0]?.raw).toContain('12345678901234567')
})

test('rows come once the sink is ready, and the next ones once it has taken them', async () => {
  const events: string[] = []
  const collected = collectRows()
  const sink: RowSink<AlertRule> = {
    ...collected,
    async ready() {
      await delay(1)
      events.push('ready')
    },
    begin: () => void events.push('begin'),
    take(row) {
      events.push('takes')
      collected.take(row)
    },
    async settle() {
      await delay(1)
      events.push('settled')
    },
  }
  const rows = [rule(1), rule(2)]
  await read(listing(...rows), sink, listing(rule(1)).length)
  expect(events).toEqual(['ready', 'begin', 'takes', 'settled', 'takes', 'settled'])
})
