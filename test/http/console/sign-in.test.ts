import { expect, test } from 'vitest'
import { createCookies } from '#src/http/console/sign-in.ts'
import { Secret } from '#src/model/secret.ts'
import { ask, openTestHttp } from '../http-harness.ts'
import {
  BOTH_TOKENS,
  basic,
  bearing,
  hiddenFields,
  OPERATE_TOKEN,
  openConsoleHarness,
  READ_TOKEN,
  sendForm,
} from './console-harness.ts'

const OPERATOR = { access: 'operate', actor: 'console, operate token' } as const
const HTML = { accept: 'text/html', 'sec-fetch-site': 'same-origin' }

const cookieOf = (set: readonly string[] | undefined) => ({ cookie: set?.[0]?.split(';')[0] ?? '' })
const harnessWithLink = () => openConsoleHarness({ signsInOnce: true })

test('the address that is printed signs in once, leads to a clean address, and says afterwards how to get another', async () => {
  await using harness = await harnessWithLink()
  const { address, signInAddress } = harness.http
  const link = signInAddress ?? ''
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign-in\?code=[\w-]{32}$/)
  expect((await ask(link, { method: 'HEAD' })).headers['set-cookie']).toBeUndefined()
  expect((await ask(`${address}/sign-in?code=guess`)).status).toBe(403)

  const signedIn = await ask(link)
  expect(signedIn).toMatchObject({ status: 303, headers: { location: '/', 'cache-control': 'no-store' } })
  const [set = ''] = signedIn.headers['set-cookie'] ?? []
  const { port } = new URL(address)
  expect(set).toMatch(new RegExp(`^ferry-${port}=[\\w.-]+; Path=/; HttpOnly; SameSite=Strict$`))
  const cookie = cookieOf(signedIn.headers['set-cookie'])
  const page = await ask(`${address}/`, { headers: { ...HTML, ...cookie } })
  expect(page).toMatchObject({ status: 200, text: expect.stringContaining('console, operate token') })

  const again = await ask(link)
  expect(again).toMatchObject({
    status: 403,
    text: expect.stringContaining('prints a new one at each start'),
  })
  expect(again.headers['set-cookie']).toBeUndefined()
  expect(again.headers['www-authenticate']).toBeUndefined()
  expect(await ask(link, { headers: cookie })).toMatchObject({ status: 303, headers: { location: '/' } })
})

test('wrong codes are slowed down as wrong tokens are', async () => {
  await using harness = await harnessWithLink()
  const { address } = harness.http
  const guess = () => ask(`${address}/sign-in?code=guess`)
  const statuses: number[] = []
  for (let n = 0; n < 12; n++) statuses.push((await guess()).status)
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 403), 429, 429])
  expect((await guess()).headers['retry-after']).toMatch(/^\d$/)
})

test('without the cookie or the token no door opens, on this machine either, and the page says where the token is', async () => {
  await using harness = await harnessWithLink()
  const { address } = harness.http
  const refused = await ask(`${address}/imports?status=paused`, { headers: HTML })
  expect(refused).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': 'Basic realm="Ferry", charset="UTF-8"' },
  })
  expect(refused.text).toContain('<code>console-token</code>')
  expect(refused.text).toContain('<a href="/imports?status=paused">open this page again</a>')
  expect((await ask(`${address}//evil.example`, { headers: HTML })).text).toContain(
    '<a href="/">open this page',
  )
  for (const headers of [bearing(OPERATE_TOKEN), basic('anna', OPERATE_TOKEN)]) {
    expect((await ask(`${address}/`, { headers })).status).toBe(200)
  }
})

test('the cookie decides as the token does, and not from another site', async () => {
  await using harness = await harnessWithLink()
  const { address, signInAddress } = harness.http
  const cookie = cookieOf((await ask(signInAddress ?? '')).headers['set-cookie'])
  const url = `${address}/ledger/schedules/prune/*/pause`
  const form = hiddenFields((await ask(url, { headers: { ...HTML, ...cookie } })).text)
  for (const elsewhere of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
  ]) {
    expect((await sendForm(url, form, { ...cookie, ...elsewhere })).status).toBe(403)
  }
  expect((await sendForm(url, form, {})).status).toBe(401)
  expect(await harness.query('select * from ferry.audit')).toEqual([])
  expect((await sendForm(url, form, cookie)).status).toBe(303)
  expect(await harness.query('select actor from ferry.audit')).toEqual([{ actor: OPERATOR.actor }])
})

test('a token that may do more comes before the cookie, and a wrong one does not take it away', async () => {
  await using http = await openTestHttp({ console: BOTH_TOKENS })
  const url = `${http.address}/sign-in?to=/imports`
  const read = cookieOf(
    (await ask(`${http.address}/`, { headers: basic('anna', READ_TOKEN) })).headers['set-cookie'],
  )
  expect((await ask(url, { headers: read })).status).toBe(401)
  const operator = await ask(url, { headers: { ...read, ...basic('anna', OPERATE_TOKEN) } })
  expect(operator).toMatchObject({ status: 303, headers: { location: '/imports' } })
  const operate = cookieOf(operator.headers['set-cookie'])
  expect((await ask(url, { headers: { ...operate, ...basic('anna', 'wrong') } })).status).toBe(303)
  const same = await ask(url, { headers: { ...operate, ...basic('anna', OPERATE_TOKEN) } })
  expect(same.headers['set-cookie']).toBeUndefined()
})

test('no address signs in where people know the tokens', async () => {
  await using http = await openTestHttp({ console: BOTH_TOKENS })
  expect(http.signInAddress).toBeNull()
  for (const code of ['', 'null', 'undefined']) {
    expect((await ask(`${http.address}/sign-in?code=${code}`)).status).toBe(403)
  }
})

test('a cookie holds for the token, the port and the week for which it was issued', () => {
  const WEEK_MS = 7 * 24 * 3_600_000
  let nowMs = 1_000_000
  const clock = () => nowMs
  const cookies = createCookies(BOTH_TOKENS, clock)
  const [issued = ''] = cookies.issue({ access: 'read', actor: 'console, read token: ä;=' }, 3377).split(';')
  expect(cookies.read(`a=b; ${issued}; c=d`, 3377)).toEqual({
    access: 'read',
    actor: 'console, read token: ä;=',
  })
  expect(createCookies(BOTH_TOKENS, clock).read(issued, 3377)).not.toBeNull()
  expect(cookies.read(issued, 3378)).toBeNull()
  const others = [
    { ...BOTH_TOKENS, read: new Secret('another-token-to-read-1234') },
    { ...BOTH_TOKENS, read: null },
  ]
  for (const tokens of others) expect(createCookies(tokens, clock).read(issued, 3377)).toBeNull()
  for (const wrong of [
    undefined,
    '',
    'ferry-3377=',
    issued.replace('.read.', '.operate.'),
    issued.replace('1000000', '1000001'),
    issued.replace(/[.][\w-]+$/, '.'),
    `${issued}x`,
  ]) {
    expect(cookies.read(wrong, 3377)).toBeNull()
    // A browser may send several of that name: of another path, or of another server's token.
    expect(cookies.read(`${wrong}; ${issued}`, 3377)).not.toBeNull()
  }
  nowMs += WEEK_MS
  expect(cookies.read(issued, 3377)).not.toBeNull()
  nowMs += 1
  expect(cookies.read(issued, 3377)).toBeNull()
  nowMs = 999_999
  expect(cookies.read(issued, 3377)).toBeNull()
})
