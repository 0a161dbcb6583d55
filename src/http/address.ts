import { isIPv6 } from 'node:net'

/**
 * The key under which an address is counted: the address itself, or of IPv6 its first 64 bits, since a single
 * machine usually has all addresses that begin with them. An IPv4 address inside an IPv6 one is itself.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped) return mapped
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return address
  const [before = '', after] = plain.split('::')
  const groups = before === '' ? [] : before.split(':')
  const rest = after ? after.split(':') : []
  const zeros = after === undefined ? 0 : 8 - groups.length - rest.length
  const all = [...groups, ...Array<string>(zeros).fill('0'), ...rest]
  return `${all
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
