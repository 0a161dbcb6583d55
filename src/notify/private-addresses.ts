import { lookup as dnsLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/**
 * Networks that are not on the public internet, or lead to one that is not: those of the registries of special-purpose
 * addresses of IANA that are not reachable by all, those for documentation, and multicast.
 */
const PRIVATE_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]
/** With those that carry an IPv4 address inside. A mapped one (`::ffff:…`) is looked for among the others. */
const PRIVATE_V6 = [
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/32',
  '100::/63',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/9',
  'ff00::/8',
]

const PRIVATE = new BlockList()
for (const [family, subnets] of [
  ['ipv4', PRIVATE_V4],
  ['ipv6', PRIVATE_V6],
] as const) {
  for (const subnet of subnets) {
    const [network = '', bits] = subnet.split('/')
    PRIVATE.addSubnet(network, Number(bits), family)
  }
}

/** The address is on a private network, and `FERRY_WEBHOOK_PRIVATE=false` refuses it. */
export class PrivateAddress extends Error {
  override readonly name = 'PrivateAddress'
  constructor() {
    super('the address is on a private network, which FERRY_WEBHOOK_PRIVATE=false refuses')
  }
}

/** Whether an IP address, without brackets, is on no public network. */
export function isPrivateAddress(address: string): boolean {
  return PRIVATE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Throws `PrivateAddress` if the host of a URL is written as a private address: no name is looked up for it. */
export function refusePrivateHost({ hostname }: URL): void {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && isPrivateAddress(host)) throw new PrivateAddress()
}

/**
 * Returns what looks up names for connections with `lookUp`, and fails with `PrivateAddress` if any address of a name is
 * private. The connection is made to the very addresses that were checked, so a name that is looked up twice cannot lead
 * elsewhere.
 */
export function publicLookup(lookUp: typeof dnsLookup): LookupFunction {
  return (hostname, options, done) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error) return done(error, '')
      if (addresses.some(({ address }) => isPrivateAddress(address))) return done(new PrivateAddress(), '')
      if (options.all) return done(null, addresses)
      done(null, first?.address ?? '', first?.family)
    })
  }
}

/** With the names of this machine. */
export const lookUpPublic = publicLookup(dnsLookup)
