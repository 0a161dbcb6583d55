import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createFailureBrake, visitorOf } from '#src/http/console/access.ts'
import { Secret } from '#src/model/secret.ts'
import { ask, openTestHttp } from '../http-harness.ts'
import {
  BOTH_TOKENS,
  basic,
  bearing,
  OPERATE_TOKEN,
  openConsoleHarness,
  READ_TOKEN,
} from './console-harness.ts'

const CALLER = {
  authorization: undefined,
  host: '127.0.0.1:3377',
  remoteAddress: '127.0.0.1',
  isForwarded: false,
}
const NONE = { operate: null, read: null }

test('without tokens, this machine may do everything, and nobody else anything', () => {
  expect(visitorOf(NONE, CALLER)).toEqual({ access: 'operate', actor: 'console on this machine' })
  for (const host of ['localhost:1', '[::1]:3377', '127.0.0.2', 'LOCALHOST']) {
    expect(visitorOf(NONE, { ...CALLER, host })).not.toBeNull()
  }
  for (const other of [
    { remoteAddress: '10.0.0.7' },
    { remoteAddress: undefined },
    { host: '10.0.0.1:3377' },
    { host: 'ferry.internal' },
    { host: undefined },
    { isForwarded: true },
  ]) {
    expect(visitorOf(NONE, { ...CALLER, ...other })).toBeNull()
  }
})

test('each token gives its own access, by Basic and by Bearer, and the audit hears the name', () => {
  const as = (headers: Record<string, string>) =>
    visitorOf(BOTH_TOKENS, { ...CALLER, authorization: headers.authorization })
  expect(as(bearing(OPERATE_TOKEN))).toEqual({ access: 'operate', actor: 'console, operate token' })
  expect(as(bearing(READ_TOKEN))).toEqual({ access: 'read', actor: 'console, read token' })
  expect(as(basic('anna', OPERATE_TOKEN))).toEqual({
    access: 'operate',
    actor: 'console, operate token: anna',
  })
  expect(as(basic('a\u0000\u202enna', READ_TOKEN))?.actor).toBe('console, read token: anna')
  expect(as(basic('x'.repeat(5_000), READ_TOKEN))?.actor).toHaveLength(200)
  for (const wrong of [
    bearing('x'),
    bearing(''),
    basic(OPERATE_TOKEN, ''),
    { authorization: OPERATE_TOKEN },
    {},
  ]) {
    expect(as(wrong as Record<string, string>)).toBeNull()
  }
})

test('with one token only, nobody else gets in, on this machine either', () => {
  const read = { operate: null, read: new Secret(READ_TOKEN) }
  expect(visitorOf(read, CALLER)).toBeNull()
  expect(visitorOf(read, { ...CALLER, ...bearing(READ_TOKEN) })?.access).toBe('read')
  const operate = { operate: new Secret(OPERATE_TOKEN), read: null }
  expect(visitorOf(operate, { ...CALLER, authorization: 'Bearer ' })).toBeNull()
  expect(visitorOf(operate, { ...CALLER, authorization: 'Basic Og==' })).toBeNull()
})

test('without tokens, a proxy that says that it is one is refused', async () => {
  await using http = await openTestHttp({ console: { operate: null, read: null } })
  for (const header of [
    'X-Forwarded-For',
    'Forwarded',
    'Via',
    'X-Real-IP',
    'X-Forwarded-Host',
    'CF-Connecting-IP',
  ]) {
    expect((await ask(`${http.address}/`, { headers: { [header]: '192.0.2.1' } })).status).toBe(403)
  }
  // Nobody is refused: this worker only starts.
  expect((await ask(`${http.address}/`)).status).toBe(503)
})

test('wrong tokens are answered one a second, and nobody with a right one waits', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const first = await harness.page('/')
  expect(first).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': expect.stringMatching(/^Basic realm=/) },
  })
  const beganAtMs = performance.now()
  const guesses = await Promise.all([harness.page('/', 'guess'), harness.page('/', 'another')])
  expect(guesses.map(({ status }) => status)).toEqual([401, 401])
  expect(performance.now() - beganAtMs).toBeGreaterThan(1_900)
  expect((await harness.page('/', READ_TOKEN)).status).toBe(200)
})

test('the brake turns away who would wait behind ten others, and lets go of who has left', async () => {
  const brake = createFailureBrake()
  const left = new AbortController()
  const waiting = Array.from({ length: 10 }, () => brake.wait(left.signal))
  expect(await brake.wait(left.signal)).toBe('too many')
  left.abort()
  await Promise.all(waiting)
  await delay(0)
  const stays = new AbortController()
  const again = brake.wait(stays.signal)
  stays.abort()
  expect(await again).toBe('waited')
})

test('the read token is sent to sign in for what needs the other one, and comes back', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const signIn = (to: string, token?: string) =>
    ask(`${harness.http.address}/sign-in?${new URLSearchParams({ to })}`, { headers: bearing(token) })
  expect((await signIn('/imports', READ_TOKEN)).status).toBe(401)
  const { text } = await harness.page('/imports?status=paused', READ_TOKEN)
  expect(text).toContain('<a href="/sign-in?to=%2Fimports%3Fstatus%3Dpaused">Sign in to decide</a>')
  expect(await signIn('/imports/7?x=1', OPERATE_TOKEN)).toMatchObject({
    status: 303,
    headers: { location: '/imports/7?x=1' },
  })
  for (const elsewhere of ['//evil.example', 'https://evil.example', '/\\evil.example', '/a\nb', '']) {
    expect((await signIn(elsewhere, OPERATE_TOKEN)).headers.location).toBe('/')
  }
})
