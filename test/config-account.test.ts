import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readConfig, withAccount } from '#src/config.ts'
import { CANARY, fileHolding, mistakesOf, ONE_ACCOUNT } from '#test/support/settings.ts'

describe('the one account of the environment', () => {
  test('is called default and has the defaults', () => {
    const config = readConfig({
      ...ONE_ACCOUNT,
      FERRY_FOLDERS: '7',
      FERRY_BASE_URL: 'https://x.example/api/',
    })
    expect(config.accounts).toHaveLength(1)
    expect(config.accounts[0]).toMatchObject({
      name: 'default',
      baseUrl: 'https://x.example/api',
      limitGroup: 'default',
      folders: [7n],
    })
  })

  test('keeps its key from every way of printing', () => {
    const config = readConfig(ONE_ACCOUNT)
    const { appKey } = config.accounts[0]!
    const printed = [JSON.stringify({ appKey }), inspect(config, { depth: 9, showHidden: true }), `${appKey}`]
    expect(printed.join()).toContain('[secret]')
    expect(printed.join()).not.toContain(CANARY)
    expect(appKey.reveal()).toBe(CANARY)
  })

  test('has a key hash that tells keys apart', () => {
    const hashOf = (key: string) => readConfig({ ...ONE_ACCOUNT, FERRY_APP_KEY: key }).accounts[0]!.keyHash
    expect(hashOf('a')).toBe(hashOf('a'))
    expect(hashOf('a')).not.toBe(hashOf('b'))
  })

  test('may have its key in a file, without the newline at its end', () => {
    const env = { FERRY_BASE_URL: 'https://api.example.com', FERRY_APP_KEY_FILE: fileHolding(`${CANARY}\n`) }
    expect(readConfig(env).accounts[0]!.appKey.reveal()).toBe(CANARY)
  })

  test.each([
    [
      'two keys',
      () => ({ ...ONE_ACCOUNT, FERRY_APP_KEY_FILE: fileHolding('k') }),
      /^FERRY_APP_KEY: FERRY_APP_KEY_FILE is/,
    ],
    ['no address', () => ({ FERRY_APP_KEY: 'k' }), /^FERRY_BASE_URL: is not set/],
    [
      'no address beside a key in a file',
      () => ({ FERRY_APP_KEY_FILE: fileHolding('k') }),
      /^FERRY_BASE_URL: is not set/,
    ],
    ['no key', () => ({ FERRY_BASE_URL: 'https://api.example.com' }), /^FERRY_APP_KEY: is not set/],
    [
      'a missing file',
      () => ({ ...ONE_ACCOUNT, FERRY_APP_KEY: '', FERRY_APP_KEY_FILE: '/nowhere/key' }),
      /ENOENT/,
    ],
    [
      'an empty file',
      () => ({ ...ONE_ACCOUNT, FERRY_APP_KEY: '', FERRY_APP_KEY_FILE: fileHolding('\n') }),
      /is empty/,
    ],
  ])('with %s is a mistake', (_, env, words) => {
    expect(mistakesOf(env())).toEqual([expect.stringMatching(words)])
  })

  test.each(['http://localhost:8080', 'http://127.0.0.1', 'http://127.8.8.8', 'http://[::1]:9'])(
    'may be reached by %s, which never leaves this machine',
    baseUrl => {
      expect(mistakesOf({ ...ONE_ACCOUNT, FERRY_BASE_URL: baseUrl })).toEqual([])
    },
  )

  test.each(['http://api.example.com', 'http://127.0.0.1.example.com', 'http://10.0.0.1'])(
    'is refused at %s unless plain http is allowed',
    baseUrl => {
      const env = { ...ONE_ACCOUNT, FERRY_BASE_URL: baseUrl }
      expect(mistakesOf(env)).toEqual([expect.stringContaining('FERRY_ALLOW_HTTP=1')])
      expect(mistakesOf({ ...env, FERRY_ALLOW_HTTP: '1' })).toEqual([])
    },
  )

  test('has all its mistakes named at once', () => {
    expect(mistakesOf({ FERRY_BASE_URL: 'http://example.com', FERRY_APP_KEY: 'se cret' })).toEqual([
      expect.stringContaining('white space'),
      expect.stringContaining('plain http'),
    ])
  })

  test('stands aside for the built-in sandbox where none is configured', () => {
    const config = withAccount(readConfig({ FERRY_FOLDERS: '3' }), 'sandbox', 'http://127.0.0.1:1', 'k')
    expect(config.accounts).toMatchObject([{ name: 'sandbox', baseUrl: 'http://127.0.0.1:1', folders: [3n] }])
  })
})
