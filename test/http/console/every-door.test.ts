import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { ACTIONS, PAGES } from '#src/http/console/pages.ts'
import { ask } from '../http-harness.ts'
import {
  BOTH_TOKENS,
  bearing,
  OPERATE_TOKEN,
  openConsoleHarness,
  READ_TOKEN,
  sendForm,
} from './console-harness.ts'

/** An address of each page and action, whatever they are about. */
const addressOf = ({ path }: { readonly path: string }) => path.replaceAll(/:\w+/g, '1')
const HTML = { accept: 'text/html' }

test('no page and no decision answers for another host, or for nobody', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  for (const address of [...PAGES, ...ACTIONS].map(addressOf)) {
    const url = harness.http.address + address
    const elsewhere = await ask(url, { headers: { host: 'evil.example', ...bearing(OPERATE_TOKEN) } })
    expect(elsewhere.status, address).toBe(421)
    expect((await ask(url, { headers: HTML })).status, address).toBe(401)
  }
})

test('no decision is shown or taken with the read token, from another site, or without the token of its form', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  expect(ACTIONS.length).toBeGreaterThan(5)
  for (const address of ACTIONS.map(addressOf)) {
    const url = harness.http.address + address
    expect((await ask(url, { headers: bearing(READ_TOKEN) })).status, address).toBe(403)
    const strangers = [
      bearing(READ_TOKEN),
      { ...bearing(OPERATE_TOKEN), 'sec-fetch-site': 'cross-site' },
      { ...bearing(OPERATE_TOKEN), origin: 'https://evil.example' },
      bearing(OPERATE_TOKEN),
    ]
    for (const headers of strangers) {
      for (const fields of [{}, { token: 'guess' }])
        expect((await sendForm(url, fields, headers)).status, address).toBe(403)
    }
  }
  expect(await harness.query('select * from ferry.audit')).toEqual([])
})

test('a form of the console that another site sends decides nothing', async () => {
  await using harness = await openConsoleHarness()
  const address = '/ledger/schedules/prune/*/pause'
  const token = /name="token" value="([^"]+)"/.exec((await harness.page(address)).text)?.[1] ?? ''
  const url = harness.http.address + address
  for (const elsewhere of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
    const headers = { ...bearing(OPERATE_TOKEN), ...elsewhere }
    expect((await sendForm(url, { token }, headers)).status).toBe(403)
  }
  expect(await harness.query('select * from ferry.audit')).toEqual([])
  expect((await sendForm(url, { token })).status).toBe(303)
})

test('paths that climb, encode slashes or are broken lead to no page, and break nothing', async () => {
  await using harness = await openConsoleHarness()
  for (const path of [
    '/assets/../console.ts',
    '/..%2f..%2fetc%2fpasswd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/imports/..%2f1',
    '/imports/%00',
    '/rules/a%2Fb/%2e%2e',
    '/imports/%ff',
    '/ledger//runs//1',
    '/imports/1;a=b',
    `/${'x'.repeat(8_000)}`,
  ]) {
    const { status, text } = await ask(harness.http.address + path, {
      headers: { ...HTML, ...bearing(OPERATE_TOKEN) },
    })
    expect([400, 404, 414], path).toContain(status)
    expect(text, path).not.toContain('root:')
  }
  expect((await harness.page('/')).status).toBe(200)
})

test('a browser that asks for what is not there gets a page that leads to the first one, a script gets JSON', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const token = bearing(READ_TOKEN)
  for (const path of ['/changes/', '/imports/1/resolve', '/ledger/snapshots/999', '/rules/%E0%A4%A/1']) {
    const url = harness.http.address + path
    const page = await ask(url, { headers: { ...HTML, ...token } })
    expect(page, path).toMatchObject({
      status: 404,
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
      text: expect.stringContaining('<a href="/">Go to Now</a>'),
    })
    expect((await ask(url, { headers: HTML })).status, path).toBe(401)
    const elsewhere = await ask(url, { headers: { ...HTML, ...token, host: 'evil.example' } })
    expect(elsewhere.status, path).toBe(421)
    const script = await ask(url, { headers: token })
    expect([400, 404], path).toContain(script.status)
    expect(script.json, path).toEqual({ error: expect.any(String) })
  }
})

test('every answer forbids the browser scripts, forms and frames of strangers', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const answers = [
    await harness.page('/', READ_TOKEN),
    await harness.page('/ledger/schedules/prune/*/pause', OPERATE_TOKEN),
    await harness.page('/ledger/schedules/prune/*/pause', READ_TOKEN),
    await harness.page('/'),
    await harness.submit('/ledger/schedules/prune/*/pause', {}, OPERATE_TOKEN),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 403, 401, 303])
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
  }
})

test('what pages load is kept by browsers, and other sites may not use it', async () => {
  await using harness = await openConsoleHarness()
  const page = await harness.page('/')
  const found = [...page.text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  const loaded = [...new Set(found)]
  expect(loaded.map(path => path.split('.').at(-1)).sort()).toEqual(['css', 'js', 'svg'])
  for (const path of loaded) {
    const { status, headers } = await harness.page(path)
    expect([path, status]).toEqual([path, 200])
    expect(headers).toMatchObject({
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
    })
  }
})

test('an address as to a proxy is answered as its path is', async () => {
  await using harness = await openConsoleHarness()
  const { hostname, port, host } = new URL(harness.http.address)
  for (const [target, path] of [
    [`http://${host}/nowhere/7?x=1`, '/nowhere/7'],
    ['//evil.example/nowhere', '//evil.example/nowhere'],
  ]) {
    const socket = connect(Number(port), hostname)
    const headers = `Host: ${host}\r\nAuthorization: Bearer ${OPERATE_TOKEN}\r\nAccept: text/html\r\nConnection: close`
    socket.end(`GET ${target} HTTP/1.1\r\n${headers}\r\n\r\n`)
    expect(await text(socket)).toContain(`<p>The address <code>${path}</code> is not known here.`)
  }
})
