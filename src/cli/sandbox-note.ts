import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The first line of whatever uses the sandbox because nothing else is configured. */
export const SANDBOX_NOTICE =
  'No platform account is configured: this is the built-in SANDBOX platform with made-up data (account "sandbox").'

/** Where the sandbox of the `ferry up` that runs on this data directory is. */
export type SandboxNote = { readonly pid: number; readonly baseUrl: string; readonly appKey: string }

/** Leaves a note, readable for this user alone, so that other commands find the sandbox; taken away on dispose. */
export function leaveSandboxNote(dataDir: string, sandbox: { baseUrl: string; appKey: string }): Disposable {
  const path = pathOf(dataDir)
  const note: SandboxNote = { pid: process.pid, baseUrl: sandbox.baseUrl, appKey: sandbox.appKey }
  rmSync(path, { force: true })
  writeFileSync(path, `${JSON.stringify(note)}\n`, { mode: 0o600 })
  return {
    [Symbol.dispose]() {
      // Whoever began after this process lost its note has left one of its own.
      if (readSandboxNote(dataDir)?.pid === process.pid) rmSync(path, { force: true })
    },
  }
}

/** Null if there is no note, or if whoever left it is gone. */
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
