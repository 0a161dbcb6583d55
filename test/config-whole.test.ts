import { expect, test } from 'vitest'
import { readConfig, SETTINGS } from '#src/config.ts'
import { Secret } from '#src/model/secret.ts'
import { fileHolding } from '#test/support/settings.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')

/** Settings that differ from each other and from what holds without them: so one that is ignored, or read for another, is seen. */
const settingsOf = () => ({
  DATABASE_URL: 'postgres://ferry@db:5432/ferry',
  DATABASE_PASSWORD_FILE: fileHolding('of the database'),
  REDIS_URL: 'redis://redis:6379',
  REDIS_PASSWORD_FILE: fileHolding('of redis'),
  FERRY_DATA_DIR: '/srv/ferry',
  FERRY_BASE_URL: 'https://api.example.com/',
  FERRY_APP_KEY: 'app-key',
  FERRY_FOLDERS: '7,12',
  FERRY_PAGE_LIMIT: '50',
  FERRY_INCLUDE_ACCOUNT: 'false',
  FERRY_POLL_EVERY: '20s',
  FERRY_MCP_POLL_EVERY: '5m',
  FERRY_NIGHTLY_CRON: '15 2 * * 1-5',
  FERRY_TIMEZONE: 'Europe/Kyiv',
  FERRY_CATCH_UP: '3h',
  FERRY_IMPORT_LIMIT: '1/1s,10/60s',
  FERRY_LIST_LIMIT: '5/2s',
  FERRY_ARRIVAL_BOUND: '900ms',
  FERRY_IMPORT_BATCH: '100',
  FERRY_REQUEST_TIMEOUT: '7s',
  FERRY_WORKER_CONCURRENCY: '2',
  FERRY_KNOWN_ROWS: '1000',
  FERRY_REMOVAL_GUARD: '3,5%',
  FERRY_KEEP_VERSIONS: '1d',
  FERRY_KEEP_CALLS: '2d',
  FERRY_KEEP_RUNS: '3d',
  FERRY_KEEP_QUARANTINE: '4d',
  FERRY_KEEP_RECIPIENTS: '5d',
  FERRY_KEEP_NOTIFICATIONS: '6d',
  FERRY_HTTP_PORT: '8080',
  FERRY_HTTP_HOST: '0.0.0.0',
  FERRY_HTTP_HOSTS: 'ferry.internal',
  FERRY_METRICS_TOKEN: 'metrics-12345678901234567890',
  FERRY_CONSOLE: 'off',
  FERRY_CONSOLE_TOKEN: 'operate-12345678901234567890',
  FERRY_CONSOLE_READ_TOKEN: 'read-12345678901234567890',
  FERRY_CONSOLE_TRUST_HEADER: 'X-User',
  FERRY_CONSOLE_TRUST_FROM: '10.1.2.3',
  FERRY_CONSOLE_TRUST_GROUPS: 'X-Groups: sre=full, staff=read',
  FERRY_PLATFORM_URL: 'https://app.example.com/rule/{id}',
  FERRY_LOG_LEVEL: 'debug',
  FERRY_WEBHOOK_URL: 'https://hooks.example.com/ferry',
  FERRY_WEBHOOK_SECRET: `whsec_${KEY}`,
  FERRY_WEBHOOK_FORMAT: 'slack',
  FERRY_WEBHOOK_PRIVATE: 'false',
  FERRY_NOTIFY: 'night.missed',
  FERRY_PUBLIC_URL: 'https://ferry.example.com/',
  FERRY_HEARTBEAT_URL: 'https://beat.example.com/1',
  HTTPS_PROXY: 'http://secure-proxy:3128',
  HTTP_PROXY: 'http://plain-proxy:3128',
  NO_PROXY: 'localhost',
})

/** Others stand in the place of these, or allow what is not allowed without them: each has tests of its own. */
const OTHERS = [
  'FERRY_APP_KEY_FILE',
  'FERRY_ACCOUNTS_FILE',
  'FERRY_ALLOW_HTTP',
  'FERRY_METRICS_TOKEN_FILE',
  'FERRY_CONSOLE_TOKEN_FILE',
  'FERRY_CONSOLE_READ_TOKEN_FILE',
  'FERRY_WEBHOOK_SECRET_FILE',
  'FERRY_RECEIVERS_FILE',
]

/** A secret is shown as what it is. */
const revealed = (value: unknown): unknown => {
  if (value instanceof Secret) return value.reveal()
  if (Array.isArray(value)) return value.map(revealed)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revealed(each)]))
}

test('every setting is read, for what it says and for nothing else', () => {
  const settings = settingsOf()
  expect([...Object.keys(settings), ...OTHERS].toSorted()).toEqual(
    SETTINGS.map(({ name }) => name).toSorted(),
  )
  const ofAccount = {
    folders: [7n, 12n],
    pageLimit: 50,
    includeAccount: false,
    importLimit: [
      { maxCalls: 1, windowMs: 1_000 },
      { maxCalls: 10, windowMs: 60_000 },
    ],
    listLimit: [{ maxCalls: 5, windowMs: 2_000 }],
  }
  expect(revealed(readConfig(settings))).toEqual({
    databaseUrl: 'postgres://ferry@db:5432/ferry',
    databasePassword: 'of the database',
    redisUrl: 'redis://redis:6379',
    redisPassword: 'of redis',
    dataDir: '/srv/ferry',
    accounts: [
      {
        name: 'default',
        baseUrl: 'https://api.example.com',
        baseUrlSetting: 'FERRY_BASE_URL',
        appKey: 'app-key',
        keySetting: 'FERRY_APP_KEY',
        keyHash: expect.stringMatching(/^[\da-f]{16}$/),
        limitGroup: 'default',
        ...ofAccount,
      },
    ],
    accountDefaults: ofAccount,
    pollEveryMs: 20_000,
    mcpPollEveryMs: 300_000,
    nightlyCron: '15 2 * * 1-5',
    timezone: 'Europe/Kyiv',
    catchUpMs: 3 * 3_600_000,
    arrivalBoundMs: 900,
    importBatch: 100,
    requestTimeoutMs: 7_000,
    workerConcurrency: 2,
    knownRows: 1_000,
    removalGuard: { rows: 3, share: 0.05 },
    retention: {
      versionsMs: 86_400_000,
      callsMs: 2 * 86_400_000,
      runsMs: 3 * 86_400_000,
      quarantineMs: 4 * 86_400_000,
      recipientsMs: 5 * 86_400_000,
      notificationsMs: 6 * 86_400_000,
    },
    proxy: { https: 'http://secure-proxy:3128', http: 'http://plain-proxy:3128', except: 'localhost' },
    http: {
      host: '0.0.0.0',
      port: 8080,
      hosts: ['ferry.internal'],
      metricsToken: 'metrics-12345678901234567890',
      console: {
        isOn: false,
        operateToken: 'operate-12345678901234567890',
        readToken: 'read-12345678901234567890',
        obstacle: null,
      },
      proxy: {
        header: 'x-user',
        from: [{ address: '10.1.2.3', prefix: 32, family: 'ipv4' }],
        groups: { header: 'x-groups', full: ['sre'], read: ['staff'] },
      },
    },
    platformUrl: 'https://app.example.com/rule/{id}',
    notify: {
      receivers: [
        {
          name: 'webhook',
          url: 'https://hooks.example.com/ferry',
          urlSetting: 'FERRY_WEBHOOK_URL',
          key: KEY,
          format: 'slack',
          kinds: ['night.missed'],
          filter: { accounts: null, folders: null, teams: null, labels: null, fields: null, people: null },
          details: false,
          digestCron: null,
        },
      ],
      heartbeat: 'https://beat.example.com/1',
      allowsPrivate: false,
      publicUrl: 'https://ferry.example.com',
      timezone: 'Europe/Kyiv',
    },
    logLevel: 'debug',
  })
})

test('every key of a receiver in the file is read, for what it says', () => {
  const filter = {
    accounts: ['prod'],
    folders: ['12'],
    teams: ['payments'],
    labels: { env: ['prod'] },
    fields: ['enabled'],
    people: ['Eve'],
  }
  const receiver = {
    name: 'on-call',
    urlFile: fileHolding('https://hooks.example.com/file\n'),
    format: 'slack',
    secretFile: fileHolding(`whsec_${KEY}\n`),
    events: ['rule.removed'],
    filter,
    details: true,
    digest: 'daily at 8:05',
  }
  const { notify } = readConfig({ FERRY_RECEIVERS_FILE: fileHolding({ receivers: [receiver] }) })
  expect(revealed(notify.receivers)).toEqual([
    {
      name: 'on-call',
      url: 'https://hooks.example.com/file',
      urlSetting: 'the address of receiver on-call',
      key: KEY,
      format: 'slack',
      kinds: ['rule.removed'],
      filter,
      details: true,
      digestCron: '5 8 * * *',
    },
  ])
})
