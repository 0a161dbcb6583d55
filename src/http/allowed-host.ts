import { isIP } from 'node:net'

/**
 * Whether a request with this `Host` header is answered: an IP address, `localhost`, or one of `names` (in lower case), each
 * with any port.
 *
 * A web page of a stranger can make a browser ask for the stranger's own name, and let that name lead to this machine
 * (DNS rebinding). The browser then sends that name. Without a header (HTTP/1.0) it is no browser.
 */
export function isAllowedHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return true
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(host) ?? []
  if (bracketed !== undefined) return isIP(bracketed) === 6
  if (plain === undefined) return false
  const name = plain.toLowerCase()
  return isIP(name) === 4 || name === 'localhost' || names.includes(name)
}
