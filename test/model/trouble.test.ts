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
