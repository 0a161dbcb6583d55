import { expect, test } from 'vitest'
import { visitorOf } from '#src/http/console/access.ts'
import { Secret } from '#src/model/secret.ts'
import { ask } from '../http-harness.ts'
import {
  BOTH_TOKENS,
  basic,
  bearing,
  OPERATE_TOKEN,
  openConsoleHarness,
  READ_TOKEN,
} from './console-harness.ts'

const visitorFrom = (headers: Record<string, string>) => visitorOf(BOTH_TOKENS, headers.authorization ?? '')

test('each token gives its own access, by Basic and by Bearer, and the audit hears the name', () => {
  expect(visitorFrom(bearing(OPERATE_TOKEN))).toEqual({ access: 'operate', actor: 'console, operate token' })
  expect(visitorFrom(bearing(READ_TOKEN))).toEqual({ access: 'read', actor: 'console, read token' })
  expect(visitorFrom(basic('anna', OPERATE_TOKEN))).toEqual({
    access: 'operate',
    actor: 'console, operate token: anna',
  })
  expect(visitorFrom(basic('a\u0000\u202enna', READ_TOKEN))?.actor).toBe('console, read token: anna')
  expect(visitorFrom(basic('x'.repeat(5_000), READ_TOKEN))?.actor).toHaveLength(200)
  for (const wrong of [
    bearing('x'),
    bearing(''),
    basic(OPERATE_TOKEN, ''),
    { authorization: OPERATE_TOKEN },
    { authorization: '' },
  ]) {
    expect(visitorFrom(wrong)).toBeNull()
  }
})

test('with one token only, nobody gets in with an empty one', () => {
  const read = { operate: null, read: new Secret(READ_TOKEN) }
  const operate = { operate: new Secret(OPERATE_TOKEN), read: null }
  expect(visitorOf(read, `Bearer ${READ_TOKEN}`)?.access).toBe('read')
  for (const tokens of [read, operate]) {
    for (const empty of ['', 'Bearer ', 'Basic Og==']) expect(visitorOf(tokens, empty)).toBeNull()
  }
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

test('who may only look is told which token decides, and where to enter it', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const { status, text } = await harness.page('/ledger/schedules/prune/*/pause?because=x', READ_TOKEN)
  expect(status).toBe(403)
  expect(text).toContain('<h1>Operate token required</h1>')
  expect(text).toContain(
    '<p>This page needs the operate token (<code>FERRY_CONSOLE_TOKEN</code>). <a href="/sign-in?to=%2Fledger%2Fschedules%2Fprune%2F*%2Fpause%3Fbecause%3Dx">Sign in with it</a>.</p>',
  )
})

test('pages read as the role of readers: what that may not see, no page has', async () => {
  await using harness = await openConsoleHarness()
  expect((await harness.page('/ledger/audit')).status).toBe(200)
  await harness.query('revoke select on ferry.audit from ferry_reader')
  expect((await harness.page('/ledger/audit')).status).toBe(503)
})
