import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { limitsOf } from '#src/ferry/accounts.ts'
import { fileHolding } from '#test/support/settings.ts'

type Entry = { name: string; key: string; limitGroup?: string; host?: string; listLimit?: string }

/** The limit keys of accounts, for calls counted by account and for those counted by key. */
function limitKeys(...entries: Entry[]) {
  const env: Record<string, string> = {}
  const accounts = entries.map(({ name, key, host = 'a', ...limits }) => {
    env[`KEY_${name}`] = key
    return { name, baseUrl: `https://${host}.example.com`, appKeyEnv: `KEY_${name}`, ...limits }
  })
  const config = readConfig({ ...env, FERRY_ACCOUNTS_FILE: fileHolding({ accounts }) })
  const limitOf = limitsOf(config.accounts)
  return {
    byAccount: entries.map(({ name }) => limitOf(name, 'list-alert-rules').limitKey),
    imports: entries.map(({ name }) => limitOf(name, 'import-subscribers').limitKey),
    byKey: entries.map(({ name }) => limitOf(name, 'list-mcp-servers').limitKey),
    windows: entries.map(({ name }) => limitOf(name, 'list-mcp-servers').windows),
    sharing: entries.map(({ name }) => limitOf(name, 'list-alert-rules').accounts),
    sharingKeys: entries.map(({ name }) => limitOf(name, 'list-mcp-servers').accounts),
    hashes: config.accounts.map(account => `key:${account.limitGroup}`),
  }
}

test('accounts that share nothing are counted apart', () => {
  const { byAccount, imports, byKey, hashes } = limitKeys(
    { name: 'a', key: 'one' },
    { name: 'b', key: 'two' },
  )
  expect(byAccount).toEqual(['account:a', 'account:b'])
  expect(imports).toEqual(byAccount)
  expect(byKey).toEqual(hashes)
  expect(new Set(hashes).size).toBe(2)
})

test('a limitGroup counts keys together too, since the platform may count them by account', () => {
  const { byAccount, byKey, hashes } = limitKeys(
    { name: 'a', key: 'one', limitGroup: 'g' },
    { name: 'b', key: 'two', limitGroup: 'g' },
    { name: 'c', key: 'three' },
  )
  expect(byAccount).toEqual(['account:g', 'account:g', 'account:c'])
  const least = hashes.slice(0, 2).sort()[0]
  expect(byKey).toEqual([least, least, hashes[2]])
})

test('one key at two addresses is counted as one, and so is whoever shares a group with either', () => {
  const { byAccount, byKey, hashes, sharing, sharingKeys } = limitKeys(
    { name: 'a', key: 'one' },
    { name: 'b', key: 'two', limitGroup: 'g' },
    { name: 'c', key: 'one', host: 'b', limitGroup: 'g' },
    { name: 'd', key: 'four', limitGroup: 'h' },
    { name: 'e', key: 'four', host: 'b', limitGroup: 'i' },
  )
  expect(byAccount).toEqual(['account:a', 'account:g', 'account:g', 'account:h', 'account:i'])
  const least = hashes.slice(0, 3).sort()[0]
  expect(byKey).toEqual([least, least, least, hashes[3], hashes[3]])
  expect(sharing).toEqual([['a'], ['b', 'c'], ['b', 'c'], ['d'], ['e']])
  const [abc, de] = [
    ['a', 'b', 'c'],
    ['d', 'e'],
  ]
  expect(sharingKeys).toEqual([abc, abc, abc, de, de])
})

test('which accounts count as one does not depend on their order', () => {
  const entries = ['one', 'two', 'three', 'four', 'five'].map((key, n) => ({
    name: `a${n}`,
    key,
    limitGroup: 'g',
  }))
  for (const [n] of entries.entries()) {
    const turned = [...entries.slice(n), ...entries.slice(0, n)]
    const { byKey, hashes } = limitKeys(...turned)
    expect(new Set(byKey)).toEqual(new Set([[...hashes].sort()[0]]))
  }
})

test('the limits are those of the account', () => {
  const [account] = readConfig({
    FERRY_BASE_URL: 'https://a.example.com',
    FERRY_APP_KEY: 'k',
    FERRY_IMPORT_LIMIT: '1/1s',
    FERRY_LIST_LIMIT: '7/1s',
  }).accounts
  const limitOf = limitsOf([account!])
  expect(limitOf('default', 'import-subscribers').windows).toEqual([{ maxCalls: 1, windowMs: 1_000 }])
  for (const operation of ['list-alert-rules', 'list-mcp-servers'] as const) {
    expect(limitOf('default', operation).windows).toEqual([{ maxCalls: 7, windowMs: 1_000 }])
  }
  expect(() => limitOf('nobody', 'list-alert-rules')).toThrow('no account is called nobody')
})

test('accounts that may be counted together are held to the lowest limit of any of them', () => {
  const entries = [
    { name: 'a', key: 'same', host: 'a', listLimit: '50/1s,1000/60s' },
    { name: 'b', key: 'same', host: 'b', listLimit: '2/1s,20/5m' },
    { name: 'c', key: 'other', listLimit: '1/1s' },
  ]
  const { windows } = limitKeys(...entries)
  const both = [
    { maxCalls: 2, windowMs: 1_000 },
    { maxCalls: 1_000, windowMs: 60_000 },
    { maxCalls: 20, windowMs: 300_000 },
  ]
  expect(windows).toEqual([both, both, [{ maxCalls: 1, windowMs: 1_000 }]])
})
