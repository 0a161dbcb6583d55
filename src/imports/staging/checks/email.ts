import { isEmailValid } from '@hapi/address'

/** RFC 5321, 4.5.3.1.1, in bytes. */
const MAX_LOCAL_BYTES = 64

/** Matches nearly all addresses, and none that the check below refuses; it is much faster. */
const PLAIN =
  /^[\w!#$%&'*+\-/=?^`{|}~]+(?:\.[\w!#$%&'*+\-/=?^`{|}~]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/** Control characters, spaces and invisible characters. */
const NOT_PRINTED = /[\p{C}\p{Z}]/u

/** Whether it is an e-mail address by the rules, without quoted local parts, comments or IP addresses. */
export function isEmail(address: string): boolean {
  const at = address.indexOf('@')
  if (PLAIN.test(address)) return at <= MAX_LOCAL_BYTES
  return hasFormOfEmail(address) && Buffer.byteLength(address.slice(0, at)) <= MAX_LOCAL_BYTES
}

/**
 * Whether it is an e-mail address if the rules that some real mailboxes break are left out: dots at the ends of the local part
 * or several in a row (docomo issued such addresses), a longer local part, an underscore in the domain.
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
  return !NOT_PRINTED.test(address) && isEmailValid(address, { ignoreLength: true })
}
