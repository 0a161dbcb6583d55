import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { consoleTokenFile, ensureConsoleToken } from '#src/cli/console-token.ts'

function emptyDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-token-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

const made = async (dataDir: string) => (await ensureConsoleToken(dataDir)).reveal()

test('the first start makes a token that only this user can read, and later ones keep it', async () => {
  const dataDir = join(emptyDirectory(), 'not', 'there', 'yet')
  const token = await made(dataDir)
  expect(token).toMatch(/^[\w-]{32}$/)
  expect(readFileSync(consoleTokenFile(dataDir), 'utf8')).toBe(`${token}\n`)
  expect(statSync(consoleTokenFile(dataDir)).mode & 0o777).toBe(0o600)
  expect(await made(dataDir)).toBe(token)
  expect(readdirSync(dataDir)).toEqual(['console-token'])
  expect(await made(emptyDirectory())).not.toBe(token)
})

test('of several that start at the same time, all have the same', async () => {
  const dataDir = emptyDirectory()
  const tokens = await Promise.all(Array.from({ length: 20 }, () => made(dataDir)))
  expect(new Set(tokens).size).toBe(1)
  expect(readdirSync(dataDir)).toEqual(['console-token'])
})

test('a file that others could read, or that holds no token, is replaced', async () => {
  const dataDir = emptyDirectory()
  const file = consoleTokenFile(dataDir)
  const first = await made(dataDir)
  chmodSync(file, 0o640)
  const second = await made(dataDir)
  expect(second).not.toBe(first)
  for (const text of ['', 'short\n', `${'x'.repeat(32)} and more`]) {
    writeFileSync(file, text)
    const next = await made(dataDir)
    expect(next).toMatch(/^[\w-]{32}$/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  }
  expect(readdirSync(dataDir)).toEqual(['console-token'])
})
