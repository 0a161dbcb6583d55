import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { AlertRulesData } from '#src/platform/contract.ts'
import { listPage, type ReadServers } from '#src/platform/list-page.ts'
import { MAX_ROW_BYTES } from '#src/platform/read-body.ts'
import { readListing } from '#src/platform/read-listing.ts'
import { listRequest, type PlatformRequest } from '#src/platform/request.ts'
import { ALERT_RULES } from '#src/platform/row-kinds.ts'
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

/** Reads all steps into `taken`, and returns what came in the end. */
async function finish<Step, End>(
  steps: AsyncGenerator<Step, End>,
  taken: { take(step: Step): void },
): Promise<End> {
  for (;;) {
    const { done, value } = await steps.next()
    if (done) return value
    taken.take(value)
  }
}

async function read(text: string, taken = collectRows(), size?: number) {
  const { listing, ...end } = await finish(
    readListing(ALERT_RULES, taken.find, HEAD, chunksOf(text, size)),
    taken,
  )
  return { ...listing, ...end }
}

/** The answer to a request whose body is this text. */
async function* answer<Step, Body, T>(request: PlatformRequest<Step, Body, T>, text: string, size?: number) {
  const body = yield* request.receive(HEAD, chunksOf(text, size))
  return { ...request.read({ ...ANSWERED, body }, same), requests: 1 }
}

function answerOf(text: string, taken = collectRows(), size?: number) {
  const request = listRequest('list-alert-rules', {}, ALERT_RULES, AlertRulesData, taken.find)
  return finish(answer(request, text, size), taken)
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

test('what is outside the contract is reported of the last rows, also if rows that do not count were like them', async () => {
  const rows = [1, 2].map(id => rule(id, { env: 1 }))
  const end = await read(`{"data":[${rows}],"request_id":"r","data":[${rows}]}`)
  expect(end).toMatchObject({ rows: 2, drift: [{ field: 'env' }] })
})

test('if `data` comes twice and the last time as null, there is no row', async () => {
  for (const data of ['null', '[]']) {
    for (const size of [1, undefined]) {
      const taken = collectRows()
      const text = `{"request_id":"r","data":[${rule(1)}],"data":${data}}`
      const dataHash = hash('sha256', '', 'hex')
      expect(await answerOf(text, taken, size)).toMatchObject({
        ok: true,
        data: { listing: { rows: 0, dataHash } },
      })
      expect(taken.good).toEqual([])
    }
  }
})

const page = (servers: string, readBefore: ReadServers = new Map(), size?: number) =>
  listPage({ page: 1, limit: 20, includeAccount: true, readBefore }, request =>
    answer(request, `{"request_id":"r","data":{"total":2,${servers}}}`, size),
  )

test('servers that come twice, or are null in the end, or are no JSON', async () => {
  const with_ = (...servers: unknown[]) => ({ ok: true, data: { servers } })
  const one = { server_id: 'a' }
  const [first, last] = [one, { server_id: 'b' }].map(server => JSON.stringify(server))
  for (const size of [1, undefined]) {
    const twice = `"servers":[${first},2],"servers":`
    expect(await page(`${twice}[${last}]`, new Map(), size)).toMatchObject(with_({ id: 'b', position: 0 }))
    expect(await page(`${twice}null`, new Map(), size)).toMatchObject(with_())
  }
  expect(await page('"servers":[{"server_id":"\\u0000"}]')).toMatchObject(
    with_({ id: '\u2400', altered: ['server_id'] }),
  )
  expect(await page('"servers":[1,nul]')).toMatchObject({
    ok: false,
    refusal: { message: expect.stringContaining(': 1 row of the list is whole') },
  })
})

test('a server that comes again is not parsed again, unless its text is another', async () => {
  const readBefore: ReadServers = new Map()
  const named = async (...names: string[]) => {
    const servers = names.map((server_name, n) => ({ server_id: `s${n}`, server_name }))
    const read = await page(`"servers":${JSON.stringify(servers)}`, readBefore)
    return read.ok ? read.data.servers : []
  }
  const first = await named('a', 'b')
  const again = await named('a', 'B')
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
    [whole.replace(rule(3), ''), 2, third],
    [whole.replace(`${rule(2)},`, `${rule(2)};`), 2, third - 1],
    [
      whole.replace('"data":', '"data":[1,2],"data":').replace(rule(1), 'nul'),
      0,
      whole.indexOf(rule(1)) + 13,
    ],
  ]
  for (const [text, rows, bytes] of damaged) {
    for (const size of [1, 700, text.length]) {
      expect(await answerOf(text, collectRows(), size)).toMatchObject({
        ok: false,
        refusal: {
          message: `The answer (HTTP 200) is not valid JSON: ${rows === 1 ? '1 row of the list is' : `${rows} rows of the list are`} whole, and what follows after ${bytes} bytes (unpacked) is damaged or cut off.`,
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
  const taken = collectRows()
  const reading = readListing(faulty, taken.find, HEAD, chunksOf(listing(rule(1, { name: '"' }))))
  await expect(finish(reading, taken)).rejects.toThrow('a fault of Ferry')
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

test('no chunk is read before the rows of the one before were taken, and what is left is given up', async () => {
  const events: string[] = []
  const rows = [rule(1), rule(2), rule(3)]
  async function* chunks() {
    try {
      for (const chunk of [`{"data":[${rows[0]},`, `${rows[1]},`, `${rows[2]}]}`]) {
        events.push('reads')
        yield Buffer.from(chunk)
      }
    } finally {
      events.push('left')
    }
  }
  for await (const step of readListing(ALERT_RULES, collectRows().find, HEAD, chunks())) {
    events.push(step.kind)
    if (events.length === 5) break
  }
  expect(events).toEqual(['begins', 'reads', 'rows', 'reads', 'rows', 'left'])
})

test('a row that is known can be read all the same', async () => {
  const text = listing(rule(1, { env: 1 }), rule(2))
  const taken = collectRows()
  await read(text, taken)
  const digests = new Set(taken.good.map(({ digest }) => digest))
  const again = collectRows()
  for await (const step of readListing(ALERT_RULES, collectRows(digests).find, HEAD, chunksOf(text))) {
    if (step.kind !== 'rows') again.take(step)
    else again.take({ ...step, rows: step.rows.map(row => (row.kind === 'known' ? row.read() : row)) })
  }
  const told = ({ good }: typeof taken) =>
    good.map(({ declared, row, written, ...same }) => ({
      ...same,
      name: row.name,
      written: [written.fingerprint, written.columns()],
      declared: declared(),
    }))
  expect(told(again)).toEqual(told(taken))
})
