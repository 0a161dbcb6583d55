import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readSandboxNote, writeSandboxNote } from '#src/cli/sandbox-note.ts'

test('the note of a sandbox is removed with it, but never the note of another process', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'ferry-note-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const sandbox = { baseUrl: 'http://127.0.0.1:1', appKey: 'key' }
  writeSandboxNote(dataDir, sandbox)[Symbol.dispose]()
  expect(readSandboxNote(dataDir)).toBeNull()

  const ours = writeSandboxNote(dataDir, sandbox)
  writeFileSync(join(dataDir, 'sandbox.json'), JSON.stringify({ pid: process.ppid, ...sandbox }))
  ours[Symbol.dispose]()
  expect(readSandboxNote(dataDir)?.pid).toBe(process.ppid)
})
