import { domainToASCII } from 'node:url'

export const BEYOND_ASCII = /[^\0-\x7f]/
/** What would end the host of a URL: `domainToASCII` reads no further. */
const ENDS_HOST = /[/\\?#:@]/

/** The address with its domain in ASCII (`xn--…`) if that can be done, else as it is. */
export function asciiForm(address: string): string {
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  if (!BEYOND_ASCII.test(domain) || ENDS_HOST.test(domain)) return address
  const ascii = domainToASCII(domain)
  return ascii === '' ? address : address.slice(0, at + 1) + ascii
}

/**
 * The one spelling by which a recipient of `method` is known: that of `Jörg@MÜNCHEN.de`, composed or not, and of
 * `jörg@xn--mnchen-3ya.de` is the same. A recipient in ASCII is only written in small letters.
 */
export function canonicalSpelling(recipient: string, method: string): string {
  if (!BEYOND_ASCII.test(recipient)) return recipient.toLowerCase()
  const composed = recipient.toLowerCase().normalize('NFC')
  return method === 'email' ? asciiForm(composed) : composed
}
