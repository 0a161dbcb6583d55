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
  if (Buffer.byteLength(address.slice(0, at)) > LONGEST_LOCAL || STRANGE.test(address)) return false
  return isEmailValid(address, { ignoreLength: true })
}
