import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { createProxyTrust } from '#src/http/console/trusted-proxy.ts'
import type { TrustedProxy } from '#src/model/settings.ts'
import { ask, openTestHttp } from '../http-harness.ts'
import {
  BOTH_TOKENS,
  basic,
  bearing,
  hiddenFields,
  OPERATE_TOKEN,
  openConsoleHarness,
  READ_TOKEN,
} from './console-harness.ts'

const HERE = { address: '127.0.0.1', prefix: 32, family: 'ipv4' } as const
const PROXY: TrustedProxy = { header: 'x-forwarded-user', from: [HERE], groups: null }
const GROUPS = { header: 'x-forwarded-groups', full: ['sre'], read: ['staff'] }
const PAUSE = '/ledger/schedules/prune/*/pause'

/** As they are sent: a name may come again, in the same case or another. */
type Headers = Readonly<Record<string, string | readonly string[]>>

const BROWSER = { 'sec-fetch-site': 'same-origin', accept: 'text/html' }

/** The console behind a proxy on 127.0.0.1, and what it logs. */
async function openBehindProxy(proxy: TrustedProxy = PROXY) {
  const warned: string[] = []
  const log = pino({ level: 'warn' }, { write: line => void warned.push(line) })
  const harness = await openConsoleHarness({ tokens: BOTH_TOKENS, log, proxy })
  const get = (headers: Headers, { from = '127.0.0.1', path = '/ledger/audit' } = {}) =>
    send(harness.http.address + path, { headers, from })
  return { ...harness, get, warned }
}

/** With whatever headers, repeated ones too, from an address of this machine. */
async function send(url: string, { headers, from, body }: { headers: Headers; from: string; body?: string }) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const method = body === undefined ? 'GET' : 'POST'
  const lines = Object.entries({
    host: new URL(url).host,
    connection: 'close',
    ...BROWSER,
    ...headers,
  }).flatMap(([name, values]) => [values].flat().flatMap(value => [name, value]))
  const length = body === undefined ? [] : ['content-length', `${Buffer.byteLength(body)}`]
  const options = { method, headers: [...lines, ...length], localAddress: from, agent: new Agent() }
  const sent = request(url, options, async response => {
    resolve({ status: response.statusCode ?? 0, text: await text(response) })
  })
  sent.on('error', reject).end(body === undefined ? undefined : Buffer.from(body)) // Node writes headers beside a text as UTF-8
  return promise
}

test('the audit has the name that the proxy gives, and the decision of a form needs no token', async () => {
  await using harness = await openBehindProxy()
  const headers = { 'X-Forwarded-User': Buffer.from('Zoë.Müller@example.com').toString('latin1') }
  const { text: form, status } = await harness.get(headers, { path: PAUSE })
  expect(status).toBe(200)
  expect(form).toContain('Signed in as <bdi>Zoë.Müller@example.com</bdi>.')
  const body = new URLSearchParams({ ...hiddenFields(form), because: 'a test' }).toString()
  const done = await send(harness.http.address + PAUSE, {
    from: '127.0.0.1',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body,
  })
  expect(done.status).toBe(303)
  expect(await harness.query('select actor, action, because from ferry.audit')).toEqual([
    { actor: 'Zoë.Müller@example.com', action: 'pause', because: 'a test' },
  ])
  expect(harness.warned).toEqual([])
})

test('whom the proxy has signed in gets no cookie of the console, whatever else the browser sends', async () => {
  await using http = await openTestHttp({ console: BOTH_TOKENS, proxy: PROXY })
  const asked = (headers: Record<string, string>) => ask(`${http.address}/`, { headers })
  const byToken = basic('anna', READ_TOKEN)
  expect((await asked(byToken)).headers['set-cookie']).toHaveLength(1)
  const named = await asked({ ...byToken, 'x-forwarded-user': 'anna' })
  expect(named.headers['set-cookie']).toBeUndefined()
})

test('from any other address the header says nothing, whatever other headers say, and that is logged', async () => {
  await using harness = await openBehindProxy()
  const named = { 'X-Forwarded-User': 'mallory' }
  for (const more of [
    {},
    { 'X-Forwarded-For': '127.0.0.1' },
    { Forwarded: 'for=127.0.0.1' },
    { 'X-Real-IP': '127.0.0.1' },
  ]) {
    const { status, text } = await harness.get({ ...named, ...more }, { from: '127.0.0.2' })
    expect({ more, status, text: text.includes('mallory') }).toEqual({ more, status: 401, text: false })
  }
  expect(harness.warned).toHaveLength(1)
  expect(harness.warned[0]).toContain('"address":"127.0.0.2"')
  expect(harness.warned[0]).not.toContain('mallory')
  // Tokens work there as ever, and the header adds nothing to them.
  const { text } = await harness.get({ ...named, ...bearing(OPERATE_TOKEN) }, { from: '127.0.0.2' })
  expect(text).toContain('Signed in as <bdi>console, operate token</bdi>')
})

describe('from the proxy', () => {
  test.each([
    ['twice', { 'X-Forwarded-User': ['anna', 'mallory'] }],
    ['twice, in other cases', { 'X-Forwarded-User': 'anna', 'x-forwarded-user': 'mallory' }],
    ['joined', { 'X-Forwarded-User': 'anna, mallory' }],
    ['empty', { 'X-Forwarded-User': '' }],
    ['of spaces', { 'X-Forwarded-User': '   ' }],
    ['with a tab', { 'X-Forwarded-User': 'anna\tx' }],
    ['with a control character', { 'X-Forwarded-User': Buffer.from('an\u0085na').toString('latin1') }],
    ['that turns text around', { 'X-Forwarded-User': Buffer.from('an\u202ena').toString('latin1') }],
    ['with an invisible character', { 'X-Forwarded-User': Buffer.from('an\u200bna').toString('latin1') }],
    ['that is not UTF-8', { 'X-Forwarded-User': 'an\xffna' }],
    ['that is too long', { 'X-Forwarded-User': 'a'.repeat(201) }],
  ])('a name %s lets nobody in, a token beside it neither', async (_, headers) => {
    await using harness = await openBehindProxy()
    for (const more of [{}, bearing(OPERATE_TOKEN)]) {
      const { status, text } = await harness.get({ ...headers, ...more } as Headers)
      expect({ status, signedIn: text.includes('Signed in') }).toEqual({ status: 403, signedIn: false })
    }
    expect(harness.warned).toHaveLength(1)
  })

  test('the longest name, a name in another case of the header, and tokens without a name are taken', async () => {
    await using harness = await openBehindProxy()
    const long = 'é'.repeat(200)
    expect((await harness.get({ 'x-FORWARDED-user': Buffer.from(long).toString('latin1') })).text).toContain(
      long,
    )
    expect((await harness.get({ x_forwarded_user: 'anna' })).status).toBe(401)
    expect((await harness.get({})).status).toBe(401)
    expect((await harness.get(bearing(READ_TOKEN))).text).toContain(
      'Read-only as <bdi>console, read token</bdi>',
    )
    // A proxy may pass on a token of its own, which is no guess of Ferry's.
    for (let n = 0; n < 12; n++) {
      const { status } = await harness.get({ 'X-Forwarded-User': 'anna', ...bearing('of the proxy') })
      expect(status).toBe(200)
    }
  })

  test('groups say who may decide, who may read, and who is refused', async () => {
    await using harness = await openBehindProxy({ ...PROXY, groups: GROUPS })
    const as = (groups: string | string[] | undefined, path = '/ledger/audit') =>
      harness.get(
        { 'X-Forwarded-User': 'anna', ...(groups !== undefined && { 'X-Forwarded-Groups': groups }) },
        { path },
      )
    expect((await as('staff,sre')).text).toContain('Signed in as <bdi>anna</bdi>')
    expect((await as('other, sre')).text).toContain('Signed in as <bdi>anna</bdi>')
    const read = await as('staff')
    expect(read.text).toContain('Read-only as <bdi>anna</bdi>.')
    expect(read.text).not.toContain('Sign in to decide')
    for (const path of [PAUSE, '/sign-in?to=/']) {
      expect(await as('staff', path)).toMatchObject({
        status: 403,
        text: expect.stringContaining('anna may read, not decide'),
      })
    }
    for (const none of [undefined, '', 'SRE', 'sre2', 'x=sre', ['sre', 'staff'], ['staff', 'sre']]) {
      expect(await as(none)).toMatchObject({ status: 403, text: expect.stringContaining('in no group') })
    }
    // Groups without a name name nobody.
    expect((await harness.get({ 'X-Forwarded-Groups': 'sre' })).status).toBe(403)
  })
})

test('networks of both families are trusted, and an IPv4 address inside an IPv6 one is itself', () => {
  const from = [
    HERE,
    { address: 'fd00::', prefix: 8, family: 'ipv6' },
    { address: '10.1.2.0', prefix: 28, family: 'ipv4' },
  ] as const
  const identify = createProxyTrust({ ...PROXY, from }, pino({ level: 'silent' }))
  const is = (remoteAddress: string | undefined) =>
    identify({
      socket: { remoteAddress },
      raw: { headersDistinct: { 'x-forwarded-user': ['anna'] } },
    } as never).is
  for (const near of ['127.0.0.1', '::ffff:127.0.0.1', '::FFFF:10.1.2.15', 'fd12::1', 'fd12::1%eth0']) {
    expect([near, is(near)]).toEqual([near, 'named'])
  }
  for (const far of ['127.0.0.2', '::ffff:127.0.0.2', '10.1.2.16', '::1', 'fe80::1', 'garbage', undefined]) {
    expect([far, is(far)]).toEqual([far, 'nobody'])
  }
})
