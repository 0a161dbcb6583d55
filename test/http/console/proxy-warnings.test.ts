import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createProxyTrust } from '#src/http/console/trusted-proxy.ts'

const PROXY = {
  header: 'x-forwarded-user',
  from: [{ address: '10.0.0.1', prefix: 32, family: 'ipv4' }],
  groups: { header: 'x-forwarded-groups', full: ['sre'], read: ['staff'] },
} as const

function setup() {
  const state = { nowMs: 0 }
  const lines: Record<string, unknown>[] = []
  const log = pino({}, { write: line => lines.push(JSON.parse(line)) })
  const identify = createProxyTrust(PROXY, log, () => state.nowMs)
  return {
    state,
    lines,
    ask: (remoteAddress: string, headers: Record<string, string[]>) =>
      identify({ socket: { remoteAddress }, raw: { headersDistinct: headers } } as never),
  }
}

const USER = 'x-forwarded-user'
const named = (name: string, groups = 'sre') => ({ [USER]: [name], 'x-forwarded-groups': [groups] })

test.for([
  [[], "The proxy's header x-forwarded-user is empty or missing, so it names nobody."],
  [['anna', 'sam'], "The proxy's header x-forwarded-user came more than once, so it names nobody."],
  [['an\tna'], "The proxy's header x-forwarded-user has characters that no name has, so it names nobody."],
  [
    ['a'.repeat(201)],
    "The proxy's header x-forwarded-user is longer than 200 characters, so it names nobody.",
  ],
  [
    ['anna, sam'],
    "The proxy's header x-forwarded-user has a comma, as if two were joined, so it names nobody.",
  ],
] as const)('the names %j are refused, and it is said why', ([names, why]) => {
  const { ask } = setup()
  expect(ask('10.0.0.1', { [USER]: [...names], 'x-forwarded-groups': ['sre'] })).toEqual({
    is: 'refused',
    why,
  })
})

test('somebody in no group that counts is named where the refusal says so; groups give what they may do', () => {
  const { ask } = setup()
  const as = (groups: string) => ask('10.0.0.1', named('anna', groups))
  const visitor = { actor: 'anna', byProxy: true }
  expect(as('other')).toEqual({ is: 'refused', why: 'anna is in no group that has access to this console.' })
  expect(as('staff , sre')).toEqual({ is: 'named', visitor: { ...visitor, access: 'operate' } })
  expect(as('other,staff')).toEqual({ is: 'named', visitor: { ...visitor, access: 'read' } })
})

test('what was refused or ignored is logged at once, then counted for ten seconds', () => {
  const { ask, lines, state } = setup()
  const logged = () =>
    lines.map(({ level, address, header, requests, msg }) => [level, address, header, requests, msg])
  const ignored =
    'A header that names a person was ignored: it came from an address that is not in FERRY_CONSOLE_TRUST_FROM.'
  const nobody = 'A request of the proxy was refused: its header names nobody.'
  const joined = 'A request of the proxy was refused: its header has a comma, as if two were joined.'
  const first = [40, '192.0.2.7', USER, 1, ignored]
  for (let times = 0; times < 3; times++) ask('192.0.2.7', named('mallory'))
  state.nowMs = 9_999
  ask('10.0.0.1', named(''))
  expect(logged()).toEqual([first])
  state.nowMs = 10_000
  ask('10.0.0.1', named(''))
  expect(logged()).toEqual([first, [40, '10.0.0.1', USER, 4, nobody]])
  state.nowMs = 20_000
  ask('10.0.0.1', named('anna,sam'))
  expect(logged().at(-1)).toEqual([40, '10.0.0.1', USER, 1, joined])
  // Nothing is wrong with these.
  state.nowMs = 40_000
  ask('10.0.0.1', named('anna'))
  ask('192.0.2.7', {})
  expect(lines).toHaveLength(3)
})
