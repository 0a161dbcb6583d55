import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig, SETTINGS } from '#src/config.ts'
import { CANARY, fileHolding, mistakesOf, ONE_ACCOUNT } from '#test/support/settings.ts'

describe('without any setting', () => {
  test('Ferry has its documented defaults, no account and services of its own', () => {
    expect(readConfig({})).toEqual({
      databaseUrl: null,
      databasePassword: null,
      redisUrl: null,
      redisPassword: null,
      dataDir: resolve('.ferry'),
      accounts: [],
      accountDefaults: {
        folders: [0n],
        pageLimit: 100,
        includeAccount: true,
        importLimit: [
          { maxCalls: 2, windowMs: 1_000 },
          { maxCalls: 20, windowMs: 60_000 },
        ],
        listLimit: [
          { maxCalls: 50, windowMs: 1_000 },
          { maxCalls: 1_000, windowMs: 60_000 },
        ],
      },
      pollEveryMs: 60_000,
      mcpPollEveryMs: 900_000,
      nightlyCron: '30 3 * * *',
      timezone: 'UTC',
      catchUpMs: 21_600_000,
      arrivalBoundMs: 5_000,
      importBatch: 500,
      knownRows: 1_000_000,
      requestTimeoutMs: 20_000,
      workerConcurrency: 4,
      removalGuard: { rows: 10, share: 0.2 },
      retention: {
        versionsMs: null,
        callsMs: 90 * 86_400_000,
        runsMs: 90 * 86_400_000,
        quarantineMs: null,
        recipientsMs: 30 * 86_400_000,
        notificationsMs: 90 * 86_400_000,
      },
      proxy: { https: null, http: null, except: null },
      http: {
        host: '127.0.0.1',
        port: null,
        hosts: [],
        metricsToken: null,
        proxy: null,
        console: { isOn: null, operateToken: null, readToken: null, obstacle: null },
      },
      notify: { receivers: [], heartbeat: null, allowsPrivate: true, publicUrl: null, timezone: 'UTC' },
      platformUrl: null,
      logLevel: null,
    })
  })

  test('an empty setting counts as unset, as compose files write it', () => {
    expect(readConfig({ DATABASE_URL: '', FERRY_POLL_EVERY: '', FERRY_BASE_URL: '' })).toEqual(readConfig({}))
  })

  test('the configuration cannot be changed', () => {
    const config = readConfig(ONE_ACCOUNT)
    expect(() => Object.assign(config, { pollEveryMs: 1 })).toThrow(TypeError)
    expect(() => Object.assign(config.accounts[0]!, { name: 'x' })).toThrow(TypeError)
  })
})

describe('how settings are written', () => {
  test.each([
    ['500ms', 500],
    ['60s', 60_000],
    ['5m', 300_000],
    ['6h', 21_600_000],
  ])('the duration %s is %i ms', (text, ms) => {
    expect(readConfig({ FERRY_CATCH_UP: text }).catchUpMs).toBe(ms)
  })

  test.each(['60', '0s', '-5s', '1.5m', '5 m', '1d', 's'])('%s is no duration', text => {
    expect(mistakesOf({ FERRY_CATCH_UP: text })).toEqual([
      `FERRY_CATCH_UP: "${text}" is not a duration; write a number above 0 and its unit: 500ms, 60s, 5m or 6h`,
    ])
  })

  test('a duration may be as long as a timer allows, and a longer one is refused', () => {
    expect(readConfig({ FERRY_CATCH_UP: '596h' }).catchUpMs).toBe(596 * 3_600_000)
    expect(mistakesOf({ FERRY_CATCH_UP: '597h', FERRY_LIST_LIMIT: '5/597h' })).toEqual([
      'FERRY_CATCH_UP: "597h" is too long; write 596h or less',
      'FERRY_LIST_LIMIT: "5/597h" has too long a window; write 590h or less',
    ])
  })

  test('alert rules are polled once a second at most', () => {
    expect(readConfig({ FERRY_POLL_EVERY: '1s' }).pollEveryMs).toBe(1_000)
    expect(mistakesOf({ FERRY_POLL_EVERY: '999ms' })).toEqual([
      'FERRY_POLL_EVERY: is too often; write 1s or more',
    ])
  })

  test('NODE_DEBUG that would print the app_key is refused, and any other is not', () => {
    expect(mistakesOf({ NODE_DEBUG: 'undici' })).toEqual([
      'NODE_DEBUG: "undici" would print the app_key with every call; unset it, or leave out undici',
    ])
    for (const text of ['http,fetch', 'UNDICI', 'und*', '*', 'websocket, net', 'stream', '*e*']) {
      expect(mistakesOf({ NODE_DEBUG: text }), text).toHaveLength(1)
    }
    for (const text of ['http', 'net,tls', 'undicix', 'fetch.', 'h*', '']) {
      expect(mistakesOf({ NODE_DEBUG: text }), text).toEqual([])
    }
  })

  test('the arrival bound leaves time to send a request', () => {
    expect(readConfig({ FERRY_ARRIVAL_BOUND: '500ms' }).arrivalBoundMs).toBe(500)
    expect(mistakesOf({ FERRY_ARRIVAL_BOUND: '499ms' })).toEqual([
      'FERRY_ARRIVAL_BOUND: is too short to send a request; write 500ms or more',
    ])
  })

  test('a limit has a window or several', () => {
    expect(readConfig({ FERRY_IMPORT_LIMIT: '3/500ms' }).accountDefaults.importLimit).toEqual([
      { maxCalls: 3, windowMs: 500 },
    ])
    for (const text of ['2', '2/1', '0/1s', '2/1s;20/60s', '2/1s,']) {
      expect(mistakesOf({ FERRY_IMPORT_LIMIT: text }), text).toHaveLength(1)
    }
  })

  test('a removal guard has rows and a share', () => {
    expect(readConfig({ FERRY_REMOVAL_GUARD: '0,2.5%' }).removalGuard).toEqual({ rows: 0, share: 0.025 })
    for (const text of ['10', '20%', '10,20', '10,101%']) {
      expect(mistakesOf({ FERRY_REMOVAL_GUARD: text }), text).toHaveLength(1)
    }
  })

  test('a batch has from 1 to 10000 rows', () => {
    expect(readConfig({ FERRY_IMPORT_BATCH: '1' }).importBatch).toBe(1)
    expect(readConfig({ FERRY_IMPORT_BATCH: '10000' }).importBatch).toBe(10_000)
    for (const text of ['0', '10001', '-1', '1e3', '50.5', 'many']) {
      expect(mistakesOf({ FERRY_IMPORT_BATCH: text }), text).toHaveLength(1)
    }
  })

  test('folders are exact to the last uint64, and each is listed once', () => {
    const { folders } = readConfig({ FERRY_FOLDERS: '0,12, 18446744073709551615,12' }).accountDefaults
    expect(folders).toEqual([0n, 12n, 18446744073709551615n])
    for (const text of ['18446744073709551616', '-1', 'all', '1,,2', '0x10']) {
      expect(mistakesOf({ FERRY_FOLDERS: text }), text).toHaveLength(1)
    }
  })

  test('a cron expression has five fields and a next time', () => {
    expect(readConfig({ FERRY_NIGHTLY_CRON: '*/5 1-3 * * mon' }).nightlyCron).toBe('*/5 1-3 * * mon')
    for (const text of ['@daily', '0 30 3 * * *', '61 3 * * *', '0 0 30 2 *', 'TZ=UTC 0 3 * * *']) {
      expect(mistakesOf({ FERRY_NIGHTLY_CRON: text }), text).toHaveLength(1)
    }
  })

  test('a time zone is an IANA name', () => {
    expect(readConfig({ FERRY_TIMEZONE: 'Europe/Kyiv' }).timezone).toBe('Europe/Kyiv')
    for (const text of ['CST', '+08:00', 'UTC+8', 'Local', 'Europe/Nowhere']) {
      expect(mistakesOf({ FERRY_TIMEZONE: text }), text).toHaveLength(1)
    }
  })

  test.for(['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'] as const)(
    '%s may be in small letters; capitals win',
    name => {
      const field = ({ HTTPS_PROXY: 'https', HTTP_PROXY: 'http', NO_PROXY: 'except' } as const)[name]
      const small = { [name.toLowerCase()]: 'http://small:1' }
      expect(readConfig(small).proxy[field]).toBe('http://small:1')
      expect(readConfig({ ...small, [name]: 'http://capital:2' }).proxy[field]).toBe('http://capital:2')
      expect(readConfig({ ...small, [name]: '' }).proxy[field]).toBe('http://small:1')
    },
  )

  test('proxies are read in capitals and in small letters', () => {
    const { proxy } = readConfig({ https_proxy: 'http://proxy:3128', NO_PROXY: 'localhost,.example.com' })
    expect(proxy).toEqual({ https: 'http://proxy:3128', http: null, except: 'localhost,.example.com' })
  })
})

describe('the password of the database', () => {
  const url = 'postgres://ferry@db:5432/ferry'

  test('may be in a file, whatever characters it has', () => {
    const { databaseUrl, databasePassword } = readConfig({
      DATABASE_URL: url,
      DATABASE_PASSWORD_FILE: fileHolding('p@ss/w:rd%\n'),
    })
    expect(databasePassword?.reveal()).toBe('p@ss/w:rd%')
    expect(databaseUrl).toBe(url)
  })

  test.for([
    [' leading and trailing ', ' leading and trailing '],
    ['\ttab\t\n', '\ttab\t'],
    ['two lines\n\n', 'two lines\n'],
    ['of Windows\r\n', 'of Windows'],
    ['\u00a0', '\u00a0'],
  ])('keeps its spaces; one end of line is no part of it %#', ([text, password]) => {
    const { databasePassword, redisPassword } = readConfig({
      ...{ DATABASE_URL: url, DATABASE_PASSWORD_FILE: fileHolding(text ?? '') },
      ...{ REDIS_URL: 'redis://redis', REDIS_PASSWORD_FILE: fileHolding(text ?? '') },
    })
    expect(databasePassword?.reveal()).toBe(password)
    expect(redisPassword?.reveal()).toBe(password)
  })

  test('is a mistake in two places for Redis too', () => {
    const twice = { REDIS_URL: 'redis://:x@redis', REDIS_PASSWORD_FILE: fileHolding('y') }
    expect(mistakesOf(twice)).toEqual([
      expect.stringMatching(/^REDIS_PASSWORD_FILE: REDIS_URL also contains/),
    ])
    expect(readConfig({ REDIS_URL: 'redis://:x@redis' }).redisUrl).toBe('redis://:x@redis')
  })

  test('is a mistake in two places, and in a file that is empty or cannot be read', () => {
    const twice = { DATABASE_URL: 'postgres://ferry:x@db/ferry', DATABASE_PASSWORD_FILE: fileHolding('y') }
    expect(mistakesOf(twice)).toEqual([
      expect.stringMatching(/^DATABASE_PASSWORD_FILE: DATABASE_URL also contains/),
    ])
    expect(mistakesOf({ DATABASE_URL: url, DATABASE_PASSWORD_FILE: '/nowhere' })).toEqual([
      expect.stringContaining('ENOENT'),
    ])
    for (const [server, address] of Object.entries({ DATABASE: url, REDIS: 'redis://redis' })) {
      const empty = { [`${server}_URL`]: address, [`${server}_PASSWORD_FILE`]: fileHolding('\n') }
      expect(mistakesOf(empty)).toEqual([
        expect.stringMatching(
          new RegExp(`^${server}_PASSWORD_FILE: .* is empty; write the password into it`),
        ),
      ])
    }
  })
})

describe('mistakes', () => {
  test('are named all at once, one line each', () => {
    const env = {
      DATABASE_URL: 'mysql://root:hunter2@db/ferry',
      REDIS_URL: 'localhost:6379',
      FERRY_POLL_EVERY: '60',
      FERRY_PAGE_LIMIT: '0',
      FERRY_LOG_LEVEL: 'loud',
      FERRY_ALLOW_HTTP: 'yes',
      FERRY_BASE_URL: 'https://api.example.com/?app_key=hunter2',
      FERRY_POLL_EVRY: '60s',
    }
    expect(mistakesOf(env)).toEqual([
      'DATABASE_URL: is not a Postgres URL; write it like postgres://user:password@host:5432/database',
      'REDIS_URL: is not a Redis URL; write it like redis://host:6379',
      'FERRY_BASE_URL: contains a query or a fragment; write only the address of the platform: https://api.example.com',
      'FERRY_PAGE_LIMIT: "0" is not a page size; write a whole number from 1 to 10000',
      'FERRY_POLL_EVERY: "60" is not a duration; write a number above 0 and its unit: 500ms, 60s, 5m or 6h',
      'FERRY_ALLOW_HTTP: "yes" is neither true nor false',
      'FERRY_LOG_LEVEL: "loud" is not one of trace, debug, info, warn, error, fatal, silent',
      'FERRY_APP_KEY: is not set, but FERRY_BASE_URL is; set it, or FERRY_APP_KEY_FILE',
      'FERRY_POLL_EVRY: is not a setting; did you mean FERRY_POLL_EVERY?',
    ])
    expect(() => readConfig(env)).toThrow(/^9 settings are wrong:\n {2}DATABASE_URL: /)
  })

  test('never repeat a key, a password or an address that may hold one', () => {
    const said = [
      mistakesOf({ FERRY_BASE_URL: `https://me:${CANARY}@api.example.com`, FERRY_APP_KEY: CANARY }),
      mistakesOf({ FERRY_BASE_URL: `ftp://api/${CANARY}`, DATABASE_URL: CANARY, REDIS_URL: CANARY }),
      mistakesOf({ FERRY_BASE_URL: 'https://api.example.com', FERRY_APP_KEY: `${CANARY} ${CANARY}` }),
      mistakesOf({ FERRY_ACCOUNTS_FILE: fileHolding(`{"accounts": [${CANARY}]}`) }),
    ]
    expect(said.every(mistakes => mistakes.length > 0)).toBe(true)
    expect(JSON.stringify(said)).not.toContain(CANARY)
  })

  test('settings for tests are no mistake', () => {
    expect(mistakesOf({ FERRY_TEST_ANYTHING: '1' })).toEqual([])
  })
})

test('every setting has a meaning, for the table of docs/settings.md', () => {
  expect(SETTINGS.filter(setting => !setting.meaning.endsWith('.'))).toEqual([])
  expect(SETTINGS.find(setting => setting.name === 'FERRY_POLL_EVERY')?.default).toBe('60s')
})
