import { expect, test } from 'vitest'
import { readConfig, withAccount } from '#src/config.ts'
import { isExcepted } from '#src/platform/dispatcher.ts'
import { mistakesOf } from '#test/support/settings.ts'

test('a window is at most as long as Postgres can count with its guard', () => {
  expect(mistakesOf({ FERRY_IMPORT_LIMIT: '2/1s,5000/591h' })).toEqual([
    'FERRY_IMPORT_LIMIT: "2/1s,5000/591h" has too long a window; write 590h or less',
  ])
  expect(mistakesOf({ FERRY_IMPORT_LIMIT: '5000/590h' })).toEqual([])
})

test('of windows of one length in a limit, the one with the fewest calls counts, once', () => {
  const windows = readConfig({ FERRY_IMPORT_LIMIT: '2/1s,20/60s,10/1m,10/60s' }).accountDefaults.importLimit
  expect(windows).toEqual([
    { maxCalls: 2, windowMs: 1_000 },
    { maxCalls: 10, windowMs: 60_000 },
  ])
})

test('the built-in sandbox is reached without a proxy', () => {
  const behind = readConfig({ HTTP_PROXY: 'http://proxy.internal:3128', NO_PROXY: 'db.internal' })
  const { proxy } = withAccount(behind, 'sandbox', 'http://127.0.0.1:4000', 'key')
  expect(proxy).toEqual({ ...behind.proxy, except: 'db.internal,127.0.0.1:4000' })
  expect(isExcepted(new URL('http://127.0.0.1:4000'), proxy.except ?? '')).toBe(true)
})
