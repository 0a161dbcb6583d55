import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { fileHolding, mistakesOf } from '#test/support/settings.ts'

const ONE_ACCOUNT = { FERRY_BASE_URL: 'https://api.example.com', FERRY_APP_KEY: 'key' }

const KEEP = {
  right: ['1d', '36500d', 'forever'],
  wrong: ['0d', '01d', '36501d', '7', '7h', '7days', '1.5d', '-7d', 'never'],
}

/** Of each setting: what is just right, and what is just wrong. */
const EDGES: Readonly<Record<string, { right: readonly string[]; wrong: readonly string[] }>> = {
  FERRY_PAGE_LIMIT: {
    right: ['1', '9999', '10000'],
    wrong: ['0', '10001', '99999', '-1', '1.5', '0x10', ''],
  },
  FERRY_IMPORT_BATCH: { right: ['1', '10000'], wrong: ['0', '10001', '007'] },
  FERRY_FOLDERS: {
    right: ['0', '1', '18446744073709551615', '1, 2,1'],
    wrong: ['18446744073709551616', '-1', '1,', ',', '1.0', '0x1'],
  },
  FERRY_REMOVAL_GUARD: {
    right: ['0,0%', '10,100%', '1000000,0.5%'],
    wrong: ['10,100.1%', '10,101%', '10', '20%', '-1,5%', '10,20'],
  },
  FERRY_POLL_EVERY: { right: ['1s', '1000ms', '596h'], wrong: ['999ms', '0s', '597h', '1', '1d', '-1s'] },
  FERRY_REQUEST_TIMEOUT: { right: ['1s', '596h'], wrong: ['0ms', '0s', '597h', '999999999h'] },
  FERRY_IMPORT_LIMIT: {
    right: ['1/1ms', '2/1s,20/60s', ' 2/1s , 20/60s '],
    wrong: ['0/1s', '2/0s', '2/1s,', '2', '1s', '2/597h', '-2/1s'],
  },
  FERRY_ARRIVAL_BOUND: { right: ['500ms', '60s'], wrong: ['499ms', '0s', '5', '-1s'] },
  FERRY_CATCH_UP: { right: ['1s', '6h'], wrong: ['6', '-6h', '597h', 'off'] },
  FERRY_MCP_POLL_EVERY: { right: ['1s', '15m', 'off'], wrong: ['999ms', '0', 'never', '597h'] },
  FERRY_KEEP_RUNS: KEEP,
  FERRY_KEEP_CALLS: KEEP,
  FERRY_KEEP_QUARANTINE: KEEP,
  FERRY_KEEP_VERSIONS: KEEP,
  FERRY_KEEP_NOTIFICATIONS: KEEP,
  FERRY_KEEP_RECIPIENTS: KEEP,
  FERRY_WORKER_CONCURRENCY: { right: ['1', '64'], wrong: ['0', '65', '99', '4x', '-1', '1.5'] },
  FERRY_KNOWN_ROWS: { right: ['0', '999999999'], wrong: ['1000000000', '-1', '1e6', '1.5'] },
  FERRY_HTTP_PORT: { right: ['0', '1', '65535'], wrong: ['65536', '99999', '-1', '80x', ':80'] },
  FERRY_NIGHTLY_CRON: {
    right: ['30 3 * * *', '0 0 29 2 *', '0 3 * MAR THU'],
    wrong: [
      '0 30 3 * * *',
      '* * * *',
      '60 3 * * *',
      '0 0 30 2 *',
      'H 3 * * *',
      '0 h(1-5) * * *',
      '0 3,H/6 * * *',
    ],
  },
  FERRY_TIMEZONE: {
    right: ['UTC', 'Europe/Kyiv'],
    wrong: ['CST', '+08:00', 'UTC+8', 'Europe/Atlantis', 'Local'],
  },
  FERRY_PLATFORM_URL: {
    right: [
      'https://app.example.com/monit/rule/{id}',
      'https://app.example.com/{account_id}/{folder_id}?rule={id}',
      'http://localhost:3000/{id}',
    ],
    wrong: [
      'http://app.example.com/{id}',
      'javascript:alert({id})',
      'https://{id}@app.example.com/',
      'https://app.example.com/{name}',
      'https://app.example.com/{id',
      '/monit/rule/{id}',
    ],
  },
  FERRY_ALLOW_HTTP: { right: ['1', '0', 'true', 'false'], wrong: ['yes', 'TRUE', '2'] },
  FERRY_BASE_URL: {
    right: ['https://api.example.com', 'https://api.example.com/v1/', 'http://127.0.0.1:8080'],
    wrong: [
      'ftp://api.example.com',
      'api.example.com',
      'https://user@api.example.com',
      'https://:password@api.example.com',
      'https://api.example.com?app_key=1',
      'https://api.example.com#here',
    ],
  },
}

for (const [setting, { right, wrong }] of Object.entries(EDGES)) {
  test(`${setting} at its edges`, () => {
    for (const value of right) {
      expect([value, mistakesOf({ ...ONE_ACCOUNT, [setting]: value })]).toEqual([value, []])
    }
    for (const value of wrong.filter(text => text !== '')) {
      const mistakes = mistakesOf({ ...ONE_ACCOUNT, [setting]: value })
      expect([value, mistakes.length > 0]).toEqual([value, true])
      expect(mistakes.join('\n')).toContain(setting)
    }
  })
}

test('a share is a part of one, folders come once each, and an address ends without a slash', () => {
  const config = readConfig({
    ...ONE_ACCOUNT,
    FERRY_BASE_URL: 'https://api.example.com/v1//',
    FERRY_FOLDERS: '3,1,3,2,1',
    FERRY_REMOVAL_GUARD: '7,12.5%',
  })
  expect(config.accounts[0]).toMatchObject({ baseUrl: 'https://api.example.com/v1', folders: [3n, 1n, 2n] })
  expect(config.removalGuard).toEqual({ rows: 7, share: 0.125 })
})

test("an account's own page size has the same edges as the setting", () => {
  const withSize = (pageLimit: unknown) =>
    mistakesOf({
      FERRY_ACCOUNTS_FILE: fileHolding({
        accounts: [{ name: 'a', baseUrl: 'https://a.example.com', appKeyEnv: 'A', pageLimit }],
      }),
      A: 'key',
    })
  for (const size of [1, 10_000]) expect([size, withSize(size)]).toEqual([size, []])
  for (const size of [0, 10_001, 1.5, '100', -1]) expect([size, withSize(size).length]).toEqual([size, 1])
})

test('a wrong setting hides no mistake that is found in others', () => {
  const mistakes = mistakesOf({
    ...ONE_ACCOUNT,
    FERRY_KNOWN_ROWS: '-1',
    DATABASE_URL: 'postgres://ferry:x@db/ferry',
    DATABASE_PASSWORD_FILE: '/nowhere/at/all',
  })
  expect(mistakes).toEqual([
    expect.stringMatching(/^FERRY_KNOWN_ROWS: /),
    'DATABASE_PASSWORD_FILE: DATABASE_URL also contains a password; write it in one place',
    'DATABASE_PASSWORD_FILE: the file that it names cannot be read (ENOENT); name a file that this user may read',
  ])
})
