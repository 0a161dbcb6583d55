import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The name of the account of the sandbox. */
export const SANDBOX = 'sandbox'

/** The first line printed by a command that uses the sandbox because no account is configured. */
export const SANDBOX_NOTICE = `No platform account is configured: this is the built-in SANDBOX platform with made-up data (account "${SANDBOX}").`

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

const ANSWERS_WITHIN_MS = 2_000

/**
 * Returns the sandbox of which there is a note; null if none answers. A note that was left by a process that was killed may have the
 * pid of another, or of this one in a container.
 */
export async function findSandbox(dataDir: string): Promise<SandboxNote | null> {
  const note = readSandboxNote(dataDir)
  if (note === null) return null
  const { request } = await import('node:http')
  const isAnswered = await new Promise<boolean>(resolve => {
    // An agent of its own takes no proxy from the environment: none leads to the sandbox.
    const options = { method: 'POST', agent: false, signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) } as const
    request(`${note.baseUrl}/_sandbox/counts`, options, answer => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
      .on('error', () => resolve(false))
      .end('{}')
  })
  return isAnswered ? note : null
}

/** Returns null if there is no note, or if the process that wrote it has ended. */
function readSandboxNote(dataDir: string): SandboxNote | null {
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
