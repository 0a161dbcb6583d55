import { hash } from 'node:crypto'
import { domainToASCII } from 'node:url'

export const BEYOND_ASCII = /[^\0-\x7f]/
/** Characters that end the host of a URL. `domainToASCII` ignores what follows them. */
const ENDS_HOST = /[/\\?#:@]/

/** Returns the address with its domain in ASCII (`xn--…`), or unchanged if the domain has no such form. */
export function asciiForm(address: string): string {
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  if (!BEYOND_ASCII.test(domain) || ENDS_HOST.test(domain)) return address
  const ascii = domainToASCII(domain)
  return ascii === '' ? address : address.slice(0, at + 1) + ascii
}

/**
 * Returns the spelling by which recipients of `method` are compared. `Jörg@MÜNCHEN.de`, composed or not, and
 * `jörg@xn--mnchen-3ya.de` have the same one. A recipient in ASCII is only put in lower case.
 */
export function canonicalSpelling(recipient: string, method: string): string {
  if (!BEYOND_ASCII.test(recipient)) return recipient.toLowerCase()
  const composed = recipient.toLowerCase().normalize('NFC')
  return method === 'email' ? asciiForm(composed) : composed
}

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
function hexOfHash(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('hex')
}
