import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { findSandbox, writeSandboxNote } from '#src/cli/sandbox-note.ts'
import { openSandbox } from '#src/sandbox/sandbox.ts'

function emptyDirectory() {
  const dataDir = mkdtempSync(join(tmpdir(), 'ferry-note-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  return { dataDir, file: join(dataDir, 'sandbox.json') }
}

const NOBODY = { baseUrl: 'http://127.0.0.1:1', appKey: 'key' }

test('the note of a sandbox is removed with it, but never the note of another process', () => {
  const { dataDir, file } = emptyDirectory()
  writeSandboxNote(dataDir, NOBODY)[Symbol.dispose]()
  expect(existsSync(file)).toBe(false)

  const ours = writeSandboxNote(dataDir, NOBODY)
  writeFileSync(file, JSON.stringify({ pid: process.ppid, ...NOBODY }))
  ours[Symbol.dispose]()
  expect(JSON.parse(readFileSync(file, 'utf8')).pid).toBe(process.ppid)
})

test('a sandbox is found if it answers; a process that lives is no proof, since it may be another', async () => {
  const { dataDir } = emptyDirectory()
  expect(await findSandbox(dataDir)).toBeNull()
  using _left = writeSandboxNote(dataDir, NOBODY)
  expect(await findSandbox(dataDir)).toBeNull()
  await using sandbox = await openSandbox()
  using _note = writeSandboxNote(dataDir, sandbox)
  expect(await findSandbox(dataDir)).toMatchObject({ pid: process.pid, baseUrl: sandbox.baseUrl })
})

test('a sandbox of this machine is found, whatever proxy the environment names', async () => {
  const { dataDir } = emptyDirectory()
  await using sandbox = await openSandbox()
  using _note = writeSandboxNote(dataDir, sandbox)
  const module = new URL('../../src/cli/sandbox-note.ts', import.meta.url).href
  const script = `const { findSandbox } = await import('${module}'); console.log((await findSandbox('${dataDir}'))?.pid)`
  const env = {
    ...process.env,
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: NOBODY.baseUrl,
    http_proxy: NOBODY.baseUrl,
  }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env,
  })
  expect(stdout).toBe(`${process.pid}\n`)
})
