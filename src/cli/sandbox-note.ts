import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The first line printed by a command that uses the sandbox because no account is configured. */
export const SANDBOX_NOTICE =
  'No platform account is configured: this is the built-in SANDBOX platform with made-up data (account "sandbox").'

/** The address of the sandbox of a `ferry up` that is running on this data directory. */
export type SandboxNote = { readonly pid: number; readonly baseUrl: string; readonly appKey: string }

/** Writes a note that only this user can read, so that other commands find the sandbox. Disposing removes it. */
export function writeSandboxNote(dataDir: string, sandbox: { baseUrl: string; appKey: string }): Disposable {
  const path = pathOf(dataDir)
  const note: SandboxNote = { pid: process.pid, baseUrl: sandbox.baseUrl, appKey: sandbox.appKey }
  rmSync(path, { force: true })
  writeFileSync(path, `${JSON.stringify(note)}\n`, { mode: 0o600 })
  return {
    [Symbol.dispose]() {
      // Another process may have replaced the note by its own.
      if (readSandboxNote(dataDir)?.pid === process.pid) rmSync(path, { force: true })
    },
  }
}

/** Returns null if there is no note, or if the process that wrote it has ended. */
export function readSandboxNote(dataDir: string): SandboxNote | null {
  try {
    const note: SandboxNote = JSON.parse(readFileSync(pathOf(dataDir), 'utf8'))
    process.kill(note.pid, 0)
    return note
  } catch {
    return null
  }
}

function pathOf(dataDir: string): string {
  return join(dataDir, 'sandbox.json')
}
