import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { CANARY, fileHolding, mistakesOf } from '#test/support/settings.ts'

test('HTTP listens where the settings say', () => {
  const { http } = readConfig({
    FERRY_HTTP_PORT: '0',
    FERRY_HTTP_HOST: '::1',
    FERRY_HTTP_HOSTS: 'Ferry.Internal, ferry',
    FERRY_METRICS_TOKEN: CANARY,
  })
  expect(http).toMatchObject({ host: '::1', port: 0, hosts: ['ferry.internal', 'ferry'] })
  expect(http.metricsToken?.reveal()).toBe(CANARY)
  expect(JSON.stringify(http)).not.toContain(CANARY)
})

test('a file may hold the token, with a newline at its end', () => {
  const { http } = readConfig({ FERRY_METRICS_TOKEN_FILE: fileHolding(`${CANARY}\n`) })
  expect(http.metricsToken?.reveal()).toBe(CANARY)
})

test.each([
  { FERRY_HTTP_PORT: '65536' },
  { FERRY_HTTP_PORT: '-1' },
  { FERRY_HTTP_PORT: 'http' },
  { FERRY_HTTP_HOST: '127.0.0.1:80' },
  { FERRY_HTTP_HOST: 'http://localhost' },
  { FERRY_HTTP_HOSTS: 'ferry:80' },
  { FERRY_HTTP_HOSTS: 'ferry,' },
  { FERRY_HTTP_HOSTS: '*' },
  { FERRY_METRICS_TOKEN: `${CANARY} ` },
  { FERRY_METRICS_TOKEN: CANARY, FERRY_METRICS_TOKEN_FILE: '/nowhere' },
  { FERRY_METRICS_TOKEN_FILE: '/nowhere' },
] as Record<string, string>[])('%j is named with what would be right, without the token', env => {
  const [mistake = '', ...others] = mistakesOf(env)
  expect(others).toEqual([])
  expect(mistake).toMatch(new RegExp(`^(${Object.keys(env).join('|')}): .*(write|set|name) `))
  expect(mistake).not.toContain(CANARY)
})

test('an empty file is no token', () => {
  expect(mistakesOf({ FERRY_METRICS_TOKEN_FILE: fileHolding('') })).toHaveLength(1)
})

test('the console needs a token where others can reach it, and says so', () => {
  const off = readConfig({ FERRY_HTTP_HOST: '0.0.0.0' }).http.console
  const obstacle =
    'FERRY_HTTP_HOST is not a loopback address, so the console needs a token; set FERRY_CONSOLE_TOKEN or FERRY_CONSOLE_READ_TOKEN'
  expect(off).toEqual({ isOn: null, operateToken: null, readToken: null, obstacle })
  expect(mistakesOf({ FERRY_HTTP_HOST: '0.0.0.0', FERRY_CONSOLE: 'on' })).toEqual([
    `FERRY_CONSOLE: ${obstacle}`,
  ])
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'LocalHost']) {
    const { console } = readConfig({ FERRY_HTTP_HOST: host, FERRY_CONSOLE: 'on' }).http
    expect(console).toMatchObject({ isOn: true, obstacle: null })
  }
  const { console } = readConfig({
    FERRY_HTTP_HOST: '0.0.0.0',
    FERRY_CONSOLE: 'on',
    FERRY_CONSOLE_READ_TOKEN_FILE: fileHolding(`${CANARY}\n`),
  }).http
  expect(console).toMatchObject({ isOn: true, obstacle: null, operateToken: null })
  expect(console.readToken?.reveal()).toBe(CANARY)
})

test.each([
  { FERRY_CONSOLE: 'true' },
  { FERRY_CONSOLE_TOKEN: `${CANARY} ` },
  { FERRY_CONSOLE_TOKEN: CANARY, FERRY_CONSOLE_TOKEN_FILE: '/nowhere' },
  { FERRY_CONSOLE_READ_TOKEN_FILE: '/nowhere' },
  { FERRY_CONSOLE_READ_TOKEN: CANARY, FERRY_CONSOLE_TOKEN: CANARY },
] as Record<string, string>[])('%j is a mistake of the console, told without the token', env => {
  const [mistake = '', ...others] = mistakesOf(env)
  expect(others).toEqual([])
  expect(mistake).toMatch(new RegExp(`^(${Object.keys(env).join('|')}): `))
  expect(mistake).not.toContain(CANARY)
})

test('a host name that begins like a loopback address is another machine, for the console and for the key', () => {
  for (const name of ['127.evil', '127.0.0.1.evil.example']) {
    expect(readConfig({ FERRY_HTTP_HOST: name }).http.console.obstacle).toMatch(/is not a loopback address/)
    expect(mistakesOf({ FERRY_BASE_URL: `http://${name}`, FERRY_APP_KEY: 'k' })).toEqual([
      expect.stringContaining('in plain http'),
    ])
  }
})

test.each(['FERRY_METRICS_TOKEN', 'FERRY_CONSOLE_TOKEN', 'FERRY_CONSOLE_READ_TOKEN'])(
  '%s has 20 characters or more, from a file too',
  setting => {
    const short = 'x'.repeat(19)
    for (const env of [{ [setting]: short }, { [`${setting}_FILE`]: fileHolding(`${short}\n`) }]) {
      expect(mistakesOf(env)).toEqual([
        expect.stringMatching(
          new RegExp(`^${setting}(_FILE)?: .*is easy to guess; write 20 characters or more`),
        ),
      ])
    }
    expect(mistakesOf({ [setting]: 'x'.repeat(20) })).toEqual([])
  },
)

const PROXY = { FERRY_CONSOLE_TRUST_HEADER: 'X-Forwarded-User', FERRY_CONSOLE_TRUST_FROM: '10.1.2.3' }

test('a proxy that signs people in is known by its addresses, and its headers in lower case', () => {
  const { http } = readConfig({
    ...PROXY,
    FERRY_CONSOLE_TRUST_FROM: '10.1.2.3, fd00::/8',
    FERRY_CONSOLE_TRUST_GROUPS: 'X-Forwarded-Groups: role:sre = full, on call=read',
  })
  expect(http.proxy).toEqual({
    header: 'x-forwarded-user',
    from: [
      { address: '10.1.2.3', prefix: 32, family: 'ipv4' },
      { address: 'fd00::', prefix: 8, family: 'ipv6' },
    ],
    groups: { header: 'x-forwarded-groups', full: ['role:sre'], read: ['on call'] },
  })
  expect(readConfig(PROXY).http.proxy?.groups).toBeNull()
  expect(readConfig({}).http.proxy).toBeNull()
})

test.each([
  [{ FERRY_CONSOLE_TRUST_FROM: undefined }, /TRUST_HEADER: .* set FERRY_CONSOLE_TRUST_FROM/],
  [{ FERRY_CONSOLE_TRUST_HEADER: undefined }, /TRUST_FROM: does nothing without/],
  [
    { FERRY_CONSOLE_TRUST_HEADER: undefined, FERRY_CONSOLE_TRUST_GROUPS: 'X-Forwarded-Groups: sre=full' },
    /TRUST_GROUPS: does nothing without/,
  ],
  [{ FERRY_CONSOLE_TRUST_HEADER: 'Authorization' }, /TRUST_HEADER: .*X-Forwarded-User/],
  [{ FERRY_CONSOLE_TRUST_HEADER: 'X-Forwarded-For' }, /TRUST_HEADER: .*X-Forwarded-User/],
  [{ FERRY_CONSOLE_TRUST_HEADER: 'X User' }, /TRUST_HEADER: .*X-Forwarded-User/],
  [{ FERRY_CONSOLE_TRUST_FROM: '0.0.0.0/0' }, /TRUST_FROM: .*none of all addresses/],
  [{ FERRY_CONSOLE_TRUST_FROM: '::/0' }, /TRUST_FROM: .*none of all addresses/],
  [{ FERRY_CONSOLE_TRUST_FROM: '*' }, /TRUST_FROM/],
  [{ FERRY_CONSOLE_TRUST_FROM: 'proxy.internal' }, /TRUST_FROM/],
  [{ FERRY_CONSOLE_TRUST_FROM: '10.0.0.0/33' }, /TRUST_FROM/],
  [{ FERRY_CONSOLE_TRUST_FROM: '10.0.0.1,' }, /TRUST_FROM/],
  [{ FERRY_CONSOLE_TRUST_GROUPS: 'sre=full' }, /TRUST_GROUPS: .*X-Forwarded-Groups/],
  [{ FERRY_CONSOLE_TRUST_GROUPS: 'X-Forwarded-Groups: sre=admin' }, /TRUST_GROUPS/],
  [{ FERRY_CONSOLE_TRUST_GROUPS: 'X-Forwarded-Groups:' }, /TRUST_GROUPS/],
  [{ FERRY_CONSOLE_TRUST_GROUPS: 'X-Forwarded-User: sre=full' }, /TRUST_GROUPS: names the header of/],
])('a proxy that would let anybody in, or nobody, is refused at start: %j', (env, words) => {
  const given = Object.entries({ ...PROXY, ...env }).filter(([, value]) => value !== undefined)
  const mistakes = mistakesOf(Object.fromEntries(given) as Record<string, string>)
  expect(mistakes.join('\n')).toMatch(words)
})

test('what the mistake about groups says to write is read as two groups, each with its access', () => {
  const [mistake = ''] = mistakesOf({ ...PROXY, FERRY_CONSOLE_TRUST_GROUPS: 'sre=full' })
  const [, example = ''] = mistake.split('; write ')
  expect(readConfig({ ...PROXY, FERRY_CONSOLE_TRUST_GROUPS: example }).http.proxy?.groups).toEqual({
    header: 'x-forwarded-groups',
    full: ['sre'],
    read: ['staff'],
  })
})
