import { expect, test } from 'vitest'
import { declaredJson } from '#src/platform/declared.ts'
import { stringifyLossless } from '#src/platform/lossless-json.ts'
import { readListing } from '#src/platform/read-listing.ts'
import { parseRow, type RowKind } from '#src/platform/read-rows.ts'
import { ALERT_RULES, MCP_SERVERS } from '#src/platform/row-kinds.ts'
import { collectRows } from '#test/support/collect-rows.ts'
import { alertRuleWire } from '../support/wire.ts'

const readRules = (...rules: unknown[]) => readRows(ALERT_RULES, rules.map(stringifyLossless))
const readServers = (...servers: unknown[]) => readRows(MCP_SERVERS, servers.map(stringifyLossless))

async function readRows<Row, Wire>(kind: RowKind<Row, Wire>, delivered: readonly string[]) {
  const rows = `[${delivered.join(',')}]`
  const text = kind.path.reduceRight((inner, name) => `{"${name}":${inner}}`, rows)
  const taken = collectRows<Row>()
  const head = { httpStatus: 200, headers: {} }
  const steps = readListing(
    kind,
    taken.find,
    head,
    (async function* () {
      yield Buffer.from(text)
    })(),
  )
  for (;;) {
    const { done, value } = await steps.next()
    if (!done) taken.take(value)
    else {
      const altered = taken.good.flatMap((row, n) => (row.altered.length > 0 ? [[n, row.altered]] : []))
      const { quarantined } = taken
      const fields = Object.keys(kind.declaration.fields) as (keyof Row)[]
      const rows = taken.good.map(({ row }) => Object.fromEntries(fields.map(name => [name, row[name]])))
      return { rows, altered, quarantined, drift: value.listing.drift }
    }
  }
}

test('a rule becomes one of the model, its integers exact', async () => {
  const max = 2n ** 64n - 1n
  const { rows, quarantined, drift } = await readRules(
    alertRuleWire({ id: max, creator_id: 9007199254740993n, timezone: 'UTC' }),
  )
  expect({ rows, quarantined, drift }).toEqual({
    rows: [
      {
        id: max,
        account_id: 2,
        folder_id: 3,
        name: 'High load',
        labels: { team: 'sre' },
        ds_type: 'prometheus',
        enabled: true,
        debug_log_enabled: false,
        cron_pattern: '*/5 * * * *',
        timezone: 'UTC',
        delay_seconds: 0,
        creator_id: 9007199254740993n,
        creator_name: 'Ada',
        updater_id: 4,
        updater_name: 'Grace',
        created_at: 1700000000,
        updated_at: 1700000001,
        triggered: false,
      },
    ],
    quarantined: [],
    drift: [],
  })
})

test('optional fields that are absent or null are null', async () => {
  const { rows } = await readRules(
    alertRuleWire({ id: 1, labels: null, timezone: null }),
    alertRuleWire({ id: 2, labels: undefined, timezone: undefined }),
  )
  expect(rows.map(({ labels, timezone }) => ({ labels, timezone }))).toEqual([
    { labels: null, timezone: null },
    { labels: null, timezone: null },
  ])
})

test('a server needs nothing but its id', async () => {
  const { rows, quarantined } = await readServers(
    { server_id: 's1', team_id: -(2n ** 63n), created_by: 2n ** 64n - 1n, tools: [{}] },
    {},
  )
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({
    server_id: 's1',
    team_id: -(2n ** 63n),
    created_by: 2n ** 64n - 1n,
    tools: [{ name: null, description: null }],
    url: null,
    can_edit: null,
  })
  expect(quarantined).toEqual([{ position: 1, id: null, reason: 'server_id is missing', raw: '{}' }])
})

test('rows that do not parse are set aside, and the others stay', async () => {
  const { rows, quarantined } = await readRules(
    alertRuleWire({ id: 1 }),
    alertRuleWire({ id: 2, name: 7, enabled: 'yes' }),
    alertRuleWire({ id: 'three' }),
    alertRuleWire({ id: 4, labels: { n: 1 } }),
    null,
    [],
    alertRuleWire({ id: 2n ** 64n }),
    alertRuleWire({ id: 6, created_at: 1.5 }),
    alertRuleWire({ id: 7 }),
  )
  expect(rows.map(row => row.id)).toEqual([1, 7])
  expect(quarantined.map(({ position, id, reason }) => [position, id, reason])).toEqual([
    [1, '2', 'name must be text, not a number; enabled must be true or false, not a string'],
    [2, null, 'id must be an integer from 0 to 2^64-1, not a string'],
    [3, '4', 'labels must be an object whose values are text, not an object'],
    [4, null, 'the row must be an object, not null'],
    [5, null, 'the row must be an object, not an array'],
    [6, null, 'id must be an integer from 0 to 2^64-1, not a number'],
    [7, '6', 'created_at must be an integer from -2^63 to 2^63-1, not a number'],
  ])
})

test('of a row with many mistakes the first five are named, and the others counted', async () => {
  const wrong = {
    name: 1,
    ds_type: 1,
    cron_pattern: 1,
    enabled: 1,
    debug_log_enabled: 1,
    triggered: 1,
    labels: 1,
  }
  const { quarantined } = await readRules(alertRuleWire({ id: 1, ...wrong }))
  expect(quarantined[0]?.reason.split('; ')).toEqual([
    ...Array.from({ length: 5 }, () => expect.stringMatching(/^\w+ must be .*, not a number$/)),
    'and 2 more',
  ])
})

test('of unknown fields only names and types are kept, each once', async () => {
  const secret = 'hunter2'
  const listing = await readServers(
    {
      server_id: 'a',
      env: { TOKEN: secret },
      tools: [
        { name: 't', input: secret },
        { name: 'u', input: secret },
      ],
    },
    { server_id: 'b', env: null, headers: [secret], '\0': 1 },
    {
      server_id: 'c',
      env: { A: 1 },
      name: secret,
      tools: [{ name: 1, secret }],
      status: { secret },
      url: [secret],
    },
  )
  expect(listing.drift).toEqual([
    { field: 'env', type: 'object' },
    { field: 'tools[].input', type: 'string' },
    { field: 'env', type: 'null' },
    { field: 'headers', type: 'array' },
    { field: '␀', type: 'number' },
    { field: 'name', type: 'string' },
    { field: 'tools[].secret', type: 'string' },
  ])
  expect(listing.quarantined).toEqual([
    {
      position: 2,
      id: 'c',
      reason:
        'url must be text, not an array; status must be text, not an object; tools[0].name must be text, not a number',
      raw: '{"server_id":"c","url":"(array, not kept)","status":"(object, not kept)","tools":[{"name":1}]}',
    },
  ])
  const plain = JSON.stringify(listing, (_key, value) => (typeof value === 'bigint' ? `${value}` : value))
  expect(plain).not.toContain(secret)
})

test('a server whose tools or id are wrong says so', async () => {
  const { quarantined } = await readServers(
    { server_id: 'a', tools: 'all' },
    { server_id: 'b', tools: ['all'] },
    { server_id: '' },
    {},
  )
  expect(quarantined.map(({ reason }) => reason)).toEqual([
    'tools must be an array, not a string',
    'tools[0] must be an object, not a string',
    'server_id must not be empty',
    'server_id is missing',
  ])
})

test('made-up field names do not fill the list of drift', async () => {
  const names = Array.from({ length: 500 }, (_, n) => [`made_up_${n}`, n])
  expect((await readServers({ server_id: 'a', ...Object.fromEntries(names) })).drift).toHaveLength(100)
})

test('a name of a field that is too long for an index is cut', async () => {
  const { drift } = await readServers({ server_id: 'a', ['x'.repeat(3_000)]: 1 })
  expect(drift).toEqual([{ field: `${'x'.repeat(200)}…`, type: 'number' }])
})

test('an id that is too long for an index sets its row aside', async () => {
  expect((await readServers({ server_id: 'é'.repeat(500) })).rows).toHaveLength(1)
  expect((await readServers({ server_id: 'é'.repeat(501) })).quarantined).toMatchObject([
    { reason: 'server_id must have at most 500 characters' },
  ])
})

test('text Postgres cannot hold is made visible, in rows and in what is set aside', async () => {
  const { rows, altered, quarantined } = await readRules(
    alertRuleWire({ id: 1, name: 'fine' }),
    alertRuleWire({ id: 2, name: 'a\0b', labels: JSON.parse('{"__proto__":"\\ud800","k\\u0000":"v"}') }),
    alertRuleWire({ id: 3, name: '\0', enabled: null }),
  )
  expect(rows.map(row => row.name)).toEqual(['fine', 'a␀b'])
  expect(Object.entries(rows[1]?.labels ?? {})).toEqual([
    ['__proto__', '\ufffd'],
    ['k␀', 'v'],
  ])
  expect([...altered]).toEqual([[1, ['name', 'labels.__proto__', 'labels.k␀']]])
  expect(quarantined[0]?.raw).toContain('"name":"␀"')
})

test('two server ids that only differ in what cannot be stored are one id', async () => {
  const { rows } = await readServers({ server_id: 'a\0' }, { server_id: 'a␀' })
  expect(rows.map(row => row.server_id)).toEqual(['a␀', 'a␀'])
})

test('a row nested a hundred thousand deep is set aside like any other', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const rule = (fields: Record<string, unknown>) =>
    stringifyLossless(alertRuleWire(fields)).replace('"DEEP"', deep)
  const { quarantined } = await readRows(ALERT_RULES, [
    rule({ id: 1, labels: { deep: 'DEEP' } }),
    rule({ id: 2, name: 'DEEP' }),
  ])
  expect(quarantined.map(({ id }) => id)).toEqual(['1', '2'])
})

test('a row that is not UTF-8 is set aside: its text would be altered, and two of its keys could become one', async () => {
  const id = 2n ** 64n - 1n
  const rule = stringifyLossless(alertRuleWire({ id, name: '#', labels: { 'k#': 'one' } }))
  for (const bytes of [[0xff], [0xed, 0xa0, 0x80]]) {
    const [before, ...after] = rule.split('#').map(part => Buffer.from(part)) as [Buffer, ...Buffer[]]
    const text = after.reduce((text, part) => Buffer.concat([text, Buffer.from(bytes), part]), before)
    expect(parseRow(ALERT_RULES, text)).toMatchObject({ id, reason: 'the row is not UTF-8', raw: { id } })
  }
  expect(parseRow(ALERT_RULES, Buffer.from(rule.replaceAll('#', '\ufffd')))).toMatchObject({ row: { id } })
})

test('of a row that is set aside, numbers within 64 bits are kept with every digit', () => {
  const declared = { fields: new Set(['id', 'n']), nested: new Map() }
  const most = 2n ** 64n - 1n
  expect(declaredJson(declared, { id: most, n: -most })).toBe(`{"id":${most},"n":-${most}}`)
  const beyond = '(number, not kept)'
  expect(declaredJson(declared, { id: most + 1n, n: -most - 1n })).toBe(
    JSON.stringify({ id: beyond, n: beyond }),
  )
})
