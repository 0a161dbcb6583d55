import { hash } from 'node:crypto'
import { canonicalSpelling } from './spellings.ts'

/**
 * Returns what hashes recipients: equal however they are spelled (see `spellings.ts`), different in every installation.
 * The hash is 16 bytes, in hexadecimal digits, as Postgres reads a uuid.
 */
export function openRecipientHash(installationId: string, method: string): (recipient: string) => string {
  const bytesOf = openRecipientHashBytes(installationId, method)
  return recipient => hexOfHash(bytesOf(recipient))
}

/** The same hash as 16 characters of latin1, a byte each: for millions of them this is the quickest to make. */
export function openRecipientHashBytes(
  installationId: string,
  method: string,
): (recipient: string) => string {
  const before = `${installationId}\n${method}\n`
  return recipient => hash('sha256', before + canonicalSpelling(recipient, method), 'latin1').slice(0, 16)
}

/** The hash that `openRecipientHashBytes` made, in hexadecimal digits. */
export function hexOfHash(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('hex')
}
