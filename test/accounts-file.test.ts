import { describe, expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { fileHolding, mistakesOf } from '#test/support/settings.ts'

const ONE_ACCOUNT = { FERRY_BASE_URL: 'https://api.example.com', FERRY_APP_KEY: 'k' }

function accountsFile(...accounts: object[]): string {
  return fileHolding({ accounts })
}

describe('an accounts file that is not JSON is told where, and nothing of it', () => {
  test.each([
    ['{\n  "accounts": [\n    { "name": "canary" "b": 1 }\n  ]\n}', 'line 3, column 24'],
    ['{"canary": 1,\n  "b": }', 'line 2, column 8'],
    ['{"canary": [1,2', 'line 1, column 16'],
    ['{"a": "canary\n"}', 'line 1, column 14'],
    ["{\n 'canary': 1}", 'line 2, column 2'],
    ['{"canary":1} x', 'line 1, column 14'],
    ['', 'line 1, column 1'],
  ])('%j', (text, place) => {
    const mistakes = mistakesOf({ FERRY_ACCOUNTS_FILE: fileHolding(text) })
    expect(mistakes).toEqual([expect.stringContaining(`is not JSON (${place})`)])
    expect(mistakes.join()).not.toContain('canary')
  })
})

test('a byte-order mark before the accounts is not theirs', () => {
  const account = { name: 'eu', baseUrl: 'https://eu.example.com', appKeyEnv: 'FERRY_EU_KEY' }
  const file = fileHolding(`\ufeff${JSON.stringify({ accounts: [account] })}`)

  expect(readConfig({ FERRY_ACCOUNTS_FILE: file, FERRY_EU_KEY: 'k' }).accounts).toMatchObject([
    { name: 'eu' },
  ])
})

describe('the accounts file', () => {
  const eu = { name: 'eu', baseUrl: 'https://eu.example.com', appKeyEnv: 'FERRY_EU_KEY' }
  const us = { name: 'us', baseUrl: 'https://us.example.com/', appKeyEnv: 'US_KEY' }
  const keys = { FERRY_EU_KEY: 'eu-key', US_KEY: 'us-key' }

  test('names several accounts, each with its own key and what it overrides', () => {
    const file = accountsFile(
      { ...eu, folders: [5, '18446744073709551615'], pageLimit: 20, listLimit: '5/1s' },
      {
        ...us,
        appKeyEnv: undefined,
        appKeyFile: fileHolding('us-key\r\n'),
        includeAccount: false,
        limitGroup: 'g',
      },
    )
    const { accounts } = readConfig({ ...keys, FERRY_ACCOUNTS_FILE: file, FERRY_PAGE_LIMIT: '50' })
    expect(accounts).toMatchObject([
      {
        name: 'eu',
        folders: [5n, 18446744073709551615n],
        pageLimit: 20,
        limitGroup: 'eu',
        includeAccount: true,
      },
      { name: 'us', baseUrl: 'https://us.example.com', folders: [0n], pageLimit: 50, limitGroup: 'g' },
    ])
    expect(accounts.map(account => account.appKey.reveal())).toEqual(['eu-key', 'us-key'])
    expect(accounts[0]!.listLimit).toEqual([{ maxCalls: 5, windowMs: 1_000 }])
  })

  test.each<[string, object[], RegExp]>([
    [
      'an unknown key',
      [{ ...eu, folder: [1] }],
      /accounts\[0\] has "folder", which is not a known key; did you mean folders\?/,
    ],
    [
      'a key written into it',
      [{ ...eu, appKeyEnv: undefined, appKey: 'x' }],
      /has "appKey", which is not a known key/,
    ],
    ['no key at all', [{ ...eu, appKeyEnv: undefined }], /needs either appKeyEnv/],
    ['a variable that is not set', [{ ...eu, appKeyEnv: 'NOT_SET' }], /account eu: NOT_SET is not set/],
    ['one name twice', [eu, { ...us, name: 'eu' }], /two entries with the name/],
    ['a name with a space', [{ ...eu, name: 'E U' }], /accounts\[0\]\.name is not a name/],
    ['a folder beyond uint64', [{ ...eu, folders: ['18446744073709551616'] }], /accounts\[0\]\.folders\[0\]/],
    ['a folder that JSON has rounded', [{ ...eu, folders: [2 ** 60] }], /accounts\[0\]\.folders\[0\]/],
    ['plain http', [{ ...eu, baseUrl: 'http://eu.example.com' }], /account eu would send its app_key/],
    ['one key under two limits', [eu, { ...eu, name: 'eu2' }], /give both the same limitGroup/],
    [
      'one key under two limits, its address written in two ways',
      [eu, { ...eu, name: 'eu2', baseUrl: `${eu.baseUrl.toUpperCase().replace('HTTPS', 'https')}:443/` }],
      /give both the same limitGroup/,
    ],
    [
      'two limits in one group',
      [
        { ...eu, limitGroup: 'g', listLimit: '1/1s' },
        { ...us, limitGroup: 'g' },
      ],
      /same importLimit/,
    ],
    ['no account', [], /accounts/],
  ])('with %s is a mistake', (_, accounts, words) => {
    const mistakes = mistakesOf({ ...keys, FERRY_ACCOUNTS_FILE: accountsFile(...accounts) })
    expect(mistakes[0]).toMatch(/^FERRY_ACCOUNTS_FILE: /)
    expect(mistakes.join('\n')).toMatch(words)
  })

  test('has the mistakes of every account named at once', () => {
    const file = accountsFile(
      { ...eu, folders: [-1], baseUrl: 'http://eu.example.com', appKeyEnv: 'FERRY_NOT_SET' },
      { ...us, appKeyEnv: undefined, appKeyFile: '/nowhere/key' },
      { ...us, baseUrl: 'http://us.example.com' },
      { baseUrl: 'https://x.example.com', pageLimit: 0 },
    )
    const mistakes = mistakesOf({ ...keys, FERRY_ACCOUNTS_FILE: file }).map(mistake =>
      mistake.replace(/^FERRY_ACCOUNTS_FILE: /, ''),
    )
    expect(mistakes).toEqual([
      expect.stringMatching(/^accounts\[0\]\.folders\[0\] -1 is not a folder id; write /),
      'accounts[3].name is missing',
      'accounts[3].pageLimit is not a page size; write a whole number from 1 to 10000',
      expect.stringMatching(/^accounts\[3\] needs either appKeyEnv/),
      expect.stringMatching(/^accounts has two entries with the name us;/),
      expect.stringMatching(/^account eu: FERRY_NOT_SET is not set/),
      expect.stringMatching(/^account eu would send its app_key to eu\.example\.com in plain http/),
      expect.stringMatching(/^account us: .*ENOENT/),
      expect.stringMatching(/^account us would send its app_key to us\.example\.com in plain http/),
      expect.stringMatching(/^FERRY_EU_KEY: is not a setting/),
    ])
  })

  test.each([
    ['an empty list', { accounts: [] }, 'accounts is empty; write [{ "name": …, "baseUrl": … }]'],
    ['no list', { accounts: 'eu' }, 'accounts is not a list; write it in [ ]'],
    ['nothing', {}, 'accounts is missing'],
    ['a list alone', [], 'is not an object; write it in { }'],
    ['an account that is none', { accounts: [1] }, 'accounts[0] is not an object; write it in { }'],
    [
      'an empty name of a group',
      { accounts: [{ ...eu, limitGroup: '' }] },
      'accounts[0].limitGroup is empty; write it, or leave it out',
    ],
    [
      'a word for a flag',
      { accounts: [{ ...eu, includeAccount: 'yes' }] },
      'accounts[0].includeAccount is neither true nor false',
    ],
    [
      'a number for an address',
      { accounts: [{ ...eu, baseUrl: 1 }] },
      'accounts[0].baseUrl is not text; write it in quotes',
    ],
    [
      'no folder',
      { accounts: [{ ...eu, folders: [] }] },
      'accounts[0].folders is empty; write folder ids, such as [12, 34], or leave it out',
    ],
  ])('with %s is told in plain words what would be right', (_, content, words) => {
    expect(mistakesOf({ ...keys, FERRY_ACCOUNTS_FILE: fileHolding(content) })).toContain(
      `FERRY_ACCOUNTS_FILE: ${words}`,
    )
  })

  test('excludes the account of the environment', () => {
    const mistakes = mistakesOf({ ...keys, ...ONE_ACCOUNT, FERRY_ACCOUNTS_FILE: accountsFile(eu) })
    expect(mistakes.map(mistake => mistake.split(':')[0])).toEqual(['FERRY_BASE_URL', 'FERRY_APP_KEY'])
  })
})
