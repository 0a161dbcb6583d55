import { expect, test } from 'vitest'
import { SECRET_SETTINGS } from '#src/config/setting-or-file.ts'
import { readConfig, SETTINGS } from '#src/config.ts'
import { fileHolding } from '#test/support/settings.ts'

/* White space around a setting, as an env file or a secret store leaves it, is no part of it. */

const KEY = 'k-1'
const TOKEN = 'a-token-of-random-letters'
const account = { FERRY_BASE_URL: 'https://api.example.com', FERRY_APP_KEY: KEY }
const trusted = { FERRY_CONSOLE_TRUST_HEADER: 'X-User', FERRY_CONSOLE_TRUST_FROM: '10.1.2.3' }
const receiver = { FERRY_WEBHOOK_URL: 'https://hooks.example.com/1' }

/** A value of each setting that is not its default, with what else must be set. */
const valuesOfAll = (): Readonly<
  Record<string, readonly [value: string, besides?: Record<string, string>]>
> => ({
  DATABASE_URL: ['postgres://ferry@db.example.com/ferry'],
  DATABASE_PASSWORD_FILE: [fileHolding('secret'), { DATABASE_URL: 'postgres://ferry@db.example.com/ferry' }],
  REDIS_URL: ['redis://redis.example.com:6379'],
  REDIS_PASSWORD_FILE: [fileHolding('secret'), { REDIS_URL: 'redis://redis.example.com:6379' }],
  FERRY_DATA_DIR: ['/var/lib/ferry'],
  FERRY_BASE_URL: ['https://api.example.com', { FERRY_APP_KEY: KEY }],
  FERRY_APP_KEY_FILE: [fileHolding(KEY), { FERRY_BASE_URL: account.FERRY_BASE_URL }],
  FERRY_ACCOUNTS_FILE: [
    fileHolding(
      JSON.stringify({ accounts: [{ name: 'eu', baseUrl: 'https://eu.example.com', appKeyEnv: 'EU' }] }),
    ),
    { EU: KEY },
  ],
  FERRY_FOLDERS: ['7,8', account],
  FERRY_PAGE_LIMIT: ['50', account],
  FERRY_INCLUDE_ACCOUNT: ['false', account],
  FERRY_POLL_EVERY: ['30s'],
  FERRY_MCP_POLL_EVERY: ['off'],
  FERRY_NIGHTLY_CRON: ['0 4 * * *'],
  FERRY_TIMEZONE: ['Europe/Berlin'],
  FERRY_CATCH_UP: ['5h'],
  FERRY_IMPORT_LIMIT: ['1/1s', account],
  FERRY_LIST_LIMIT: ['1/1s', account],
  FERRY_ARRIVAL_BOUND: ['4s'],
  FERRY_IMPORT_BATCH: ['400'],
  FERRY_REQUEST_TIMEOUT: ['10s'],
  FERRY_WORKER_CONCURRENCY: ['2'],
  FERRY_KNOWN_ROWS: ['0'],
  FERRY_REMOVAL_GUARD: ['5,10%'],
  FERRY_KEEP_VERSIONS: ['365d'],
  FERRY_KEEP_CALLS: ['forever'],
  FERRY_KEEP_RUNS: ['30d'],
  FERRY_KEEP_QUARANTINE: ['30d'],
  FERRY_KEEP_RECIPIENTS: ['7d'],
  FERRY_KEEP_NOTIFICATIONS: ['7d'],
  FERRY_ALLOW_HTTP: ['1', { ...account, FERRY_BASE_URL: 'http://api.example.com' }],
  FERRY_HTTP_PORT: ['8080'],
  FERRY_HTTP_HOST: ['0.0.0.0'],
  FERRY_HTTP_HOSTS: ['ferry.internal'],
  FERRY_METRICS_TOKEN_FILE: [fileHolding(TOKEN)],
  FERRY_CONSOLE: ['off'],
  FERRY_CONSOLE_TOKEN_FILE: [fileHolding(TOKEN)],
  FERRY_CONSOLE_READ_TOKEN_FILE: [fileHolding(TOKEN)],
  FERRY_CONSOLE_TRUST_HEADER: ['X-User', { FERRY_CONSOLE_TRUST_FROM: '10.1.2.3' }],
  FERRY_CONSOLE_TRUST_FROM: ['10.1.2.0/28', { FERRY_CONSOLE_TRUST_HEADER: 'X-User' }],
  FERRY_CONSOLE_TRUST_GROUPS: ['X-Groups: sre=full', trusted],
  FERRY_PLATFORM_URL: ['https://app.example.com/rule/{id}'],
  FERRY_LOG_LEVEL: ['debug'],
  FERRY_WEBHOOK_URL: [receiver.FERRY_WEBHOOK_URL],
  FERRY_WEBHOOK_SECRET_FILE: [fileHolding(`whsec_${Buffer.alloc(32, 7).toString('base64')}`), receiver],
  FERRY_WEBHOOK_FORMAT: ['slack', receiver],
  FERRY_WEBHOOK_PRIVATE: ['false', receiver],
  FERRY_NOTIFY: ['import.paused', receiver],
  FERRY_RECEIVERS_FILE: [
    fileHolding(JSON.stringify({ receivers: [{ name: 'a', url: 'https://hooks.example.com/1' }] })),
  ],
  FERRY_PUBLIC_URL: ['https://ferry.example.com'],
  FERRY_HEARTBEAT_URL: ['https://beat.example.com'],
  HTTPS_PROXY: ['http://proxy.example.com:3128'],
  HTTP_PROXY: ['http://proxy.example.com:3128'],
  NO_PROXY: ['example.com'],
})

const secret = (name: string) => SECRET_SETTINGS.some(one => one === name)

/** A configuration as text, with what its secrets hide. */
const shown = (env: Record<string, string>) =>
  JSON.stringify(readConfig(env), (_, value) =>
    typeof value === 'bigint' ? `${value}` : typeof value?.reveal === 'function' ? value.reveal() : value,
  )

test.for(SETTINGS.map(({ name }) => name).filter(name => !secret(name)))(
  'white space around %s is no part of it',
  name => {
    const [value, besides = {}] = valuesOfAll()[name]!
    const clean = shown({ ...besides, [name]: value })
    for (const text of [`${value}\n`, `${value}\r\n`, ` ${value} `, `\t${value}`])
      expect(shown({ ...besides, [name]: text })).toBe(clean)
    expect(shown({ [name]: ' \n' })).toBe(shown({}))
  },
)

test.for(['https_proxy', 'http_proxy', 'no_proxy'])('white space around %s is no part of it', name => {
  expect(shown({ [name]: 'http://proxy.example.com:3128\n' })).toBe(
    shown({ [name]: 'http://proxy.example.com:3128' }),
  )
})

test.for(SECRET_SETTINGS)(
  'white space in %s is not left out: a secret that was copied wrong is refused',
  name => {
    const besides = name === 'FERRY_APP_KEY' ? { FERRY_BASE_URL: account.FERRY_BASE_URL } : receiver
    expect(() => readConfig({ ...besides, [name]: `${TOKEN} x` })).toThrow(name)
  },
)

test('white space around the address of an account in the accounts file is no part of it', () => {
  const read = (baseUrl: string) => {
    const file = fileHolding(JSON.stringify({ accounts: [{ name: 'eu', baseUrl, appKeyEnv: 'EU' }] }))
    return readConfig({ FERRY_ACCOUNTS_FILE: file, EU: KEY }).accounts[0]?.baseUrl
  }
  expect(read(' https://eu.example.com/ \n')).toBe('https://eu.example.com')
})
