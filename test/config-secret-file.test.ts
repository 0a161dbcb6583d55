import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FileSecret, type FileTrouble, secretFiles } from '#src/config/secret-file.ts'

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
