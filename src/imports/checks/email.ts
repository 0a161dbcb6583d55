import { isEmailValid } from '@hapi/address'

const LONGEST_LOCAL = 64
/** Of domains in a file most come again; this many are remembered. */
const REMEMBERED = 10_000

const PLAIN_LOCAL = /^[\w!#$%&'*+\-/=?^`{|}~]+(?:\.[\w!#$%&'*+\-/=?^`{|}~]+)*$/

/** Returns a check of e-mail addresses: strict, without quoted local parts, comments and addresses of machines. */
export function openEmailCheck(): (address: string) => boolean {
  const domains = new Set<string>()
  return address => {
    const at = address.lastIndexOf('@')
    if (at < 1) return false
    const local = address.slice(0, at)
    if (Buffer.byteLength(local) > LONGEST_LOCAL) return false
    const domain = address.slice(at + 1)
    if (domains.has(domain) && PLAIN_LOCAL.test(local)) return true
    if (!isEmailValid(address, { ignoreLength: true })) return false
    if (domains.size < REMEMBERED) domains.add(domain)
    return true
  }
}
