import { isEmailValid } from '@hapi/address'

/** RFC 5321, 4.5.3.1.1, in bytes. */
const LONGEST_LOCAL = 64

/** What nearly all addresses look like, and the check below would not refuse: it is much quicker to say so. */
const PLAIN =
  /^[\w!#$%&'*+\-/=?^`{|}~]+(?:\.[\w!#$%&'*+\-/=?^`{|}~]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/** Control characters, spaces and what cannot be seen. */
const STRANGE = /[\p{C}\p{Z}]/u

/** Whether it is an e-mail address: strictly, without quoted local parts, comments or the numbers of machines. */
export function isEmail(address: string): boolean {
  const at = address.indexOf('@')
  if (PLAIN.test(address)) return at <= LONGEST_LOCAL
  return hasFormOfEmail(address) && Buffer.byteLength(address.slice(0, at)) <= LONGEST_LOCAL
}

/**
 * Whether it is an address but for what real mailboxes have against the rules: dots at the ends of the local part or
 * several in a row (docomo gave out such ones), a longer local part, an underscore in the domain.
 */
export function isLenientEmail(address: string): boolean {
  const at = address.lastIndexOf('@')
  const local = address.slice(0, at).replace(/^\.+|\.+$|\.(?=\.)/g, '')
  const labels = address.slice(at + 1).split('.')
  const domain = labels.map((label, n) => (n < labels.length - 1 ? label.replaceAll('_', 'x') : label))
  return hasFormOfEmail(`${local}@${domain.join('.')}`)
}

function hasFormOfEmail(address: string): boolean {
  if (PLAIN.test(address)) return true
  return !STRANGE.test(address) && isEmailValid(address, { ignoreLength: true })
}
