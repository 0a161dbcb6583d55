import { readFileSync } from 'node:fs'
import type { Client } from 'pg'
import { PASSWORD_FILE } from '#src/model/postgres-address.ts'

/** The last password of each file that was not empty: a file may be read while it is being written. */
const lastOf = new Map<string, string>()

/**
 * Has a client ask for its password when it connects, if its address names a file. So each connection has the password of that
 * moment: one that was rotated, or a token that lives for minutes.
 */
export function usePasswordFile(client: Client, address: string | undefined): void {
  const path = address === undefined ? null : URL.parse(address)?.searchParams.get(PASSWORD_FILE)
  if (!path) return
  Object.assign(client, { password: () => passwordIn(path) })
}

/** Throws if the file has never held a password. */
export function passwordIn(path: string): string {
  const read = readOrNull(path)?.replace(/\r?\n$/, '')
  if (read) lastOf.set(path, read)
  const password = lastOf.get(path)
  if (password === undefined) throw new Error(`the password file ${path} is empty or cannot be read`)
  return password
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
