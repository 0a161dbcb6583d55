import { BlockList, isIP } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/**
 * Whether a host leads to this machine itself: `localhost`, or a loopback address as a setting, a URL or a socket writes it
 * (`127.0.0.1`, `::1`, `[::1]`, `::ffff:127.0.0.1`). A name that only begins like one may lead anywhere.
 */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true
  const [, bracketed] = /^\[(.*)\]$/.exec(host) ?? []
  const address = bracketed ?? host
  const version = isIP(address)
  if (version === 4) return bracketed === undefined && LOOPBACK.check(address, 'ipv4')
  return version === 6 && LOOPBACK.check(address, 'ipv6')
}
