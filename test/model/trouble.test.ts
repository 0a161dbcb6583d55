import { expect, test } from 'vitest'
import { causeOf, type Trouble, troubleInWords } from '#src/model/trouble.ts'

const TROUBLE: Trouble = {
  why: 'failed',
  account: 'team-c',
  inventory: 'alert-rules',
  schedule: 'poll-alert-rules',
  run: '7',
  code: 'Unauthorized',
  keySetting: 'TEAMC_KEY',
  hasWorker: true,
}

const wordsOf = (more: Partial<Trouble>) => troubleInWords({ ...TROUBLE, ...more })

test('a cause is one sentence that names the setting or the command that ends it', () => {
  expect(wordsOf({})).toBe('key refused (401): set TEAMC_KEY. `ferry runs show 7` has the details.')
  expect(wordsOf({ keySetting: null })).toContain('set the app_key of account team-c')
  expect(wordsOf({ code: 'AccessDenied' })).toContain(
    'permission missing (403): give the role of the key in TEAMC_KEY',
  )
  expect(wordsOf({ code: 'NotSent' })).toContain('platform unreachable: check its base address')
  expect(wordsOf({ code: 'Odd' })).toContain('the last run failed (Odd).')
  // What every object inherits is no code.
  expect(wordsOf({ code: 'constructor' })).toContain('the last run failed (constructor).')
  expect(wordsOf({ why: 'paused' })).toContain('`ferry schedules resume poll-alert-rules --account team-c`')
  expect(wordsOf({ why: 'no run', hasWorker: false })).toContain(
    'no worker has this account: start `ferry worker`',
  )
  for (const why of ['failed', 'partial'] as const) {
    expect(wordsOf({ why, hasWorker: false })).toMatch(/ No worker has account team-c now\.$/)
    expect(wordsOf({ why })).not.toContain('No worker')
  }
  expect(wordsOf({ why: 'no run' })).toContain('though a worker has this account')
})

test('each trouble is told as one text that says what it is and what to do', () => {
  const withDetails = (words: string) => `${words}. \`ferry runs show 7\` has the details.`
  const told: [Partial<Trouble>, string][] = [
    [{}, withDetails('key refused (401): set TEAMC_KEY')],
    [
      { code: 'AccessDenied' },
      withDetails(
        'permission missing (403): give the role of the key in TEAMC_KEY the right to view alert-rules',
      ),
    ],
    [
      { code: 'AccessDenied', inventory: 'mcp-servers', keySetting: null },
      withDetails(
        'permission missing (403): give the role of the key in the app_key of account team-c the right to view mcp-servers',
      ),
    ],
    [
      { code: 'BalanceNotEnough' },
      withDetails("balance too low (402): top up the account's balance on the platform"),
    ],
    [{ code: 'NoLicense' }, withDetails('no license: get the license that the platform asks for')],
    ...['NotSent', 'NoAnswer'].map((code): [Partial<Trouble>, string] => [
      { code },
      withDetails('platform unreachable: check its base address, the network and the proxy'),
    ]),
    [
      { code: 'CertificateNotTrusted' },
      withDetails(
        "the platform's certificate is not trusted: set NODE_EXTRA_CA_CERTS, or check the base address",
      ),
    ],
    [
      { code: 'ProxyAuthenticationRequired' },
      withDetails('the proxy refuses its user or password: set them in HTTPS_PROXY'),
    ],
    ...['InternalError', 'ServiceUnavailable'].map((code): [Partial<Trouble>, string] => [
      { code },
      withDetails(
        'the platform fails: Ferry goes on trying; if it stays, report the request_id to the platform',
      ),
    ]),
    [{ code: null, run: null }, 'the last run failed.'],
    [
      { code: 'Odd', hasWorker: false },
      `${withDetails('the last run failed (Odd)')} No worker has account team-c now.`,
    ],
    [{ why: 'partial' }, withDetails('the last listing was not complete (Unauthorized)')],
    [{ why: 'running' }, 'a run is under way and has not ended yet.'],
    [
      { why: 'running', hasWorker: false },
      'a run has not ended, and no worker has account team-c now. Unless `ferry sync` is reading, it is lost: start `ferry worker` with that account in its settings.',
    ],
    [
      { why: 'paused' },
      'its schedule is paused: `ferry schedules resume poll-alert-rules --account team-c` lets it go on.',
    ],
    [
      { why: 'clock set back' },
      "the listing is later than the database's clock: the clock was set back. The next complete run ends this.",
    ],
    [
      { why: 'no run' },
      'no run was tried, though a worker has this account: see `ferry schedules list` and the log of the worker.',
    ],
    [
      { why: 'no run', hasWorker: false },
      'no worker has this account: start `ferry worker` with account team-c in its settings.',
    ],
  ]
  expect(told.map(([more]) => wordsOf(more))).toEqual(told.map(([, words]) => words))
})

test('what is wrong with an account is one cause for all its inventories; what is wrong with one of them is not', () => {
  const same = (one: Partial<Trouble>, other: Partial<Trouble>) =>
    causeOf({ ...TROUBLE, ...one }) === causeOf({ ...TROUBLE, ...other, inventory: 'mcp-servers' })
  expect(same({}, { schedule: 'poll-mcp-servers', run: '8' })).toBe(true)
  expect(same({ code: 'NotSent' }, { code: 'NoAnswer' })).toBe(true)
  expect(same({ why: 'no run', hasWorker: false }, { why: 'no run', hasWorker: false })).toBe(true)
  expect(same({}, { code: 'AccessDenied' })).toBe(false)
  expect(same({ code: 'Odd' }, { code: 'Odd' })).toBe(false)
  expect(same({ why: 'partial' }, { why: 'partial' })).toBe(false)
  expect(same({ why: 'paused' }, { why: 'paused', schedule: 'poll-mcp-servers' })).toBe(false)
})

test.each([
  ['Unauthorized', 'key refused (401)', 'key refused'],
  ['AccessDenied', 'permission missing (403)', 'permission missing'],
  ['BalanceNotEnough', 'balance too low (402)', 'balance too low'],
  ['NoLicense', 'no license', 'no license'],
  ['NotSent', 'platform unreachable', 'platform unreachable'],
  ['NoAnswer', 'platform unreachable', 'platform unreachable'],
  ['CertificateNotTrusted', 'NODE_EXTRA_CA_CERTS', 'certificate not trusted'],
  ['ProxyAuthenticationRequired', 'HTTPS_PROXY', 'proxy refuses'],
  ['InternalError', 'the platform fails', 'platform fails'],
  ['ServiceUnavailable', 'the platform fails', 'platform fails'],
  ['Odd', 'the last run failed (Odd)', 'Odd of alert-rules'],
  [null, 'the last run failed.', 'failed of alert-rules'],
] as const)('%s is told in words, and is one cause', (code, words, cause) => {
  expect(wordsOf({ code })).toContain(words)
  expect(causeOf({ ...TROUBLE, code })).toBe(cause)
})

test('what is no failure has a cause of its own', () => {
  const of = (more: Partial<Trouble>) => causeOf({ ...TROUBLE, ...more })
  expect(of({ why: 'no run', hasWorker: false })).toBe('no worker')
  expect(of({ why: 'no run' })).toBe('no run of alert-rules')
  expect(of({ why: 'partial' })).toBe('partial of alert-rules')
  expect(of({ why: 'paused' })).toBe('paused poll-alert-rules')
  expect(wordsOf({ why: 'partial', code: 'ListingIncomplete' })).toBe(
    'the last listing was not complete (ListingIncomplete). `ferry runs show 7` has the details.',
  )
  expect(wordsOf({ why: 'partial', code: null, run: null })).toBe('the last listing was not complete.')
})
