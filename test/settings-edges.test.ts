import { describe, expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { mistakesOf } from '#test/support/settings.ts'

/** The last values that are taken, and what becomes of them. */
describe('settings at their edges are taken', () => {
  test.each([
    ['FERRY_POLL_EVERY', '1s', { pollEveryMs: 1_000 }],
    ['FERRY_POLL_EVERY', '596h', { pollEveryMs: 596 * 3_600_000 }],
    ['FERRY_CATCH_UP', '1ms', { catchUpMs: 1 }],
    ['FERRY_REQUEST_TIMEOUT', '596h', { requestTimeoutMs: 2_145_600_000 }],
    ['FERRY_IMPORT_BATCH', '1', { importBatch: 1 }],
    ['FERRY_IMPORT_BATCH', '10000', { importBatch: 10_000 }],
    ['FERRY_REMOVAL_GUARD', '0,0%', { removalGuard: { rows: 0, share: 0 } }],
    ['FERRY_REMOVAL_GUARD', '999999999,100%', { removalGuard: { rows: 999_999_999, share: 1 } }],
    ['FERRY_REMOVAL_GUARD', '1,0.5%', { removalGuard: { rows: 1, share: 0.005 } }],
    ['FERRY_PAGE_LIMIT', '1', { accountDefaults: { pageLimit: 1 } }],
    ['FERRY_PAGE_LIMIT', '10000', { accountDefaults: { pageLimit: 10_000 } }],
    ['FERRY_FOLDERS', '18446744073709551615', { accountDefaults: { folders: [18446744073709551615n] } }],
    ['FERRY_FOLDERS', '7,7,0', { accountDefaults: { folders: [7n, 0n] } }],
    ['FERRY_IMPORT_LIMIT', '1/1ms', { accountDefaults: { importLimit: [{ maxCalls: 1, windowMs: 1 }] } }],
  ])('%s=%s', (name, text, expected) => {
    expect(readConfig({ [name]: text })).toMatchObject(expected)
  })
})

describe('settings beyond their edges are not', () => {
  test.each([
    ['FERRY_POLL_EVERY', '999ms'],
    ['FERRY_POLL_EVERY', '0s'],
    ['FERRY_CATCH_UP', '0ms'],
    ['FERRY_CATCH_UP', '597h'],
    ['FERRY_REQUEST_TIMEOUT', '1'],
    ['FERRY_REQUEST_TIMEOUT', '-1s'],
    ['FERRY_IMPORT_BATCH', '0'],
    ['FERRY_IMPORT_BATCH', '10001'],
    ['FERRY_REMOVAL_GUARD', '1,100.1%'],
    ['FERRY_REMOVAL_GUARD', '-1,1%'],
    ['FERRY_REMOVAL_GUARD', '10'],
    ['FERRY_PAGE_LIMIT', '0'],
    ['FERRY_PAGE_LIMIT', '10001'],
    ['FERRY_FOLDERS', '18446744073709551616'],
    ['FERRY_FOLDERS', ''.padEnd(3, ',')],
    ['FERRY_IMPORT_LIMIT', '0/1s'],
    ['FERRY_IMPORT_LIMIT', '1/0s'],
    ['FERRY_LIST_LIMIT', '1/597h'],
  ])('%s=%s', (name, text) => {
    expect(mistakesOf({ [name]: text })).toEqual([expect.stringMatching(`^${name}: `)])
  })
})

test('calls are kept for longer than a limit counts them, also if the clock of the database gains', () => {
  const account = { FERRY_BASE_URL: 'https://api.example.com', FERRY_APP_KEY: 'key' }
  const mistakesWith = (window: string) =>
    mistakesOf({ ...account, FERRY_KEEP_CALLS: '1d', FERRY_LIST_LIMIT: `5/${window}` })
  expect(mistakesWith('23h')).toEqual([])
  for (const window of ['24h', '1430m']) {
    expect(mistakesWith(window), window).toEqual([
      'FERRY_KEEP_CALLS: a limit counts calls over a longer window; write more days, or forever',
    ])
  }
})

test('spaces around a value and the end of its line are no part of it', () => {
  const settings = {
    FERRY_FOLDERS: '7,12',
    FERRY_PAGE_LIMIT: '50',
    FERRY_POLL_EVERY: '20s',
    FERRY_MCP_POLL_EVERY: '5m',
    FERRY_NIGHTLY_CRON: '15 2 * * 1-5',
    FERRY_TIMEZONE: 'Europe/Kyiv',
    FERRY_CATCH_UP: '3h',
    FERRY_IMPORT_LIMIT: '1/1s,10/60s',
    FERRY_LIST_LIMIT: '5/1s',
    FERRY_ARRIVAL_BOUND: '900ms',
    FERRY_IMPORT_BATCH: '100',
    FERRY_REQUEST_TIMEOUT: '7s',
    FERRY_WORKER_CONCURRENCY: '2',
    FERRY_KNOWN_ROWS: '1000',
    FERRY_REMOVAL_GUARD: '3,5%',
    FERRY_KEEP_VERSIONS: '30d',
    FERRY_KEEP_CALLS: 'forever',
    FERRY_HTTP_PORT: '8080',
    FERRY_HTTP_HOST: '0.0.0.0',
    FERRY_HTTP_HOSTS: 'ferry.internal,ferry',
  }
  const around = Object.entries(settings).map(([name, value]) => [name, `\t ${value} \r\n`])
  expect(readConfig(Object.fromEntries(around))).toEqual(readConfig(settings))
  expect(mistakesOf({ FERRY_POLL_EVERY: ' 60 \n', FERRY_LIST_LIMIT: ' 5/597h \n' })).toEqual([
    'FERRY_POLL_EVERY: "60" is not a duration; write a number above 0 and its unit: 500ms, 60s, 5m or 6h',
    'FERRY_LIST_LIMIT: "5/597h" has too long a window; write 590h or less',
  ])
})
