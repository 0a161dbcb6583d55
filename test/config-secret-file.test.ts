import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FileSecret, type FileTrouble, secretFiles } from '#src/config/secret-file.ts'
import { readConfig } from '#src/config.ts'

function openDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-test-secret-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

const withoutSpace = (text: string) => (/^\S+$/.test(text) ? text : null)

test('a secret in a file is read anew once the file has changed, was replaced, or a link leads elsewhere', () => {
  const directory = openDirectory()
  const path = join(directory, 'key')
  writeFileSync(path, 'one\n')
  const secret = new FileSecret(path, 'FERRY_APP_KEY_FILE', 'one', withoutSpace)
  expect(secret.reveal()).toBe('one')
  writeFileSync(path, 'second\n')
  expect(secret.reveal()).toBe('second')
  writeFileSync(`${path}.new`, 'third')
  renameSync(`${path}.new`, path)
  expect(secret.reveal()).toBe('third')
  // As Kubernetes changes a secret.
  for (const version of ['a', 'b']) mkdirSync(join(directory, version))
  writeFileSync(join(directory, 'a', 'key'), 'fourth')
  writeFileSync(join(directory, 'b', 'key'), 'fifth!')
  symlinkSync(join(directory, 'a'), join(directory, 'data'))
  const linked = new FileSecret(join(directory, 'data', 'key'), 'FERRY_APP_KEY_FILE', 'fourth', withoutSpace)
  unlinkSync(join(directory, 'data'))
  symlinkSync(join(directory, 'b'), join(directory, 'data'))
  expect(linked.reveal()).toBe('fifth!')
  expect(`${secret} ${JSON.stringify({ secret })}`).not.toContain('third')
})

test('a file that is empty, half written or gone keeps the last secret, and that is said once', () => {
  const path = join(openDirectory(), 'key')
  writeFileSync(path, 'good')
  const secret = new FileSecret(path, 'FERRY_APP_KEY_FILE', 'good', withoutSpace)
  const troubles: unknown[] = []
  const hear = (trouble: unknown) => void troubles.push(trouble)
  secretFiles.subscribe(hear)
  onTestFinished(() => void secretFiles.unsubscribe(hear))
  for (const text of ['', 'two words']) {
    writeFileSync(path, text)
    expect([secret.reveal(), secret.reveal()]).toEqual(['good', 'good'])
  }
  unlinkSync(path)
  expect([secret.reveal(), secret.reveal()]).toEqual(['good', 'good'])
  expect(troubles).toHaveLength(3)
  for (const trouble of troubles as FileTrouble[]) expect(trouble.setting).toBe('FERRY_APP_KEY_FILE')
  writeFileSync(path, 'better')
  expect(secret.reveal()).toBe('better')
})

test('what is not a file, such as a pipe, is read once only: at the start', () => {
  const secret = new FileSecret('/dev/null', 'FERRY_APP_KEY_FILE', 'first', withoutSpace)
  const troubles: unknown[] = []
  const hear = (trouble: unknown) => void troubles.push(trouble)
  secretFiles.subscribe(hear)
  onTestFinished(() => void secretFiles.unsubscribe(hear))
  expect(secret.reveal()).toBe('first')
  expect(troubles).toEqual([])
})

test('a secret that stands where the name of its file or variable belongs is in no message', () => {
  const key = 'fk-0123456789abcdef'
  const accounts = join(openDirectory(), 'accounts.json')
  const receivers = `${accounts}.receivers`
  const account = { name: 'a', baseUrl: 'https://api.example.com', appKeyEnv: key }
  writeFileSync(accounts, JSON.stringify({ accounts: [account] }))
  const receiver = { name: 'r', url: 'https://hooks.example.com', secretEnv: key }
  writeFileSync(receivers, JSON.stringify({ receivers: [receiver] }))
  const said = (settings: Record<string, string>) => {
    try {
      readConfig(settings)
    } catch (error) {
      return (error as Error).message
    }
    return ''
  }
  const ofFile = said({ FERRY_APP_KEY_FILE: key })
  expect(ofFile).toContain('FERRY_APP_KEY_FILE: the file that it names cannot be read (ENOENT)')
  const ofAccount = said({ FERRY_ACCOUNTS_FILE: accounts })
  expect(ofAccount).toContain('account a: the variable that appKeyEnv names is not set')
  const ofReceiver = said({ FERRY_RECEIVERS_FILE: receivers })
  expect(ofReceiver).toContain('receiver r: the variable that secretEnv names is not set')
  expect(ofFile + ofAccount + ofReceiver).not.toContain(key)
  expect(said({ FERRY_APP_KEY_FILE: `${accounts}.none` })).toContain(
    `${accounts}.none cannot be read (ENOENT)`,
  )
  writeFileSync(accounts, JSON.stringify({ accounts: [{ ...account, appKeyEnv: 'MY_KEY' }] }))
  expect(said({ FERRY_ACCOUNTS_FILE: accounts })).toContain('account a: MY_KEY is not set')
})
