import { isIP } from 'node:net'
import type { GroupAccess as Groups, Network } from '../model/settings.ts'
import { all, text } from './values.ts'

/*
 * How the settings of a proxy are written that signs people in.
 */

/** Of these, others decide what they hold, or Ferry reads them for something else. */
const NOT_TO_TRUST =
  /^(authorization|cookie|host|origin|referer|forwarded|via|connection|content-.*|accept.*|sec-.*|x-forwarded-(for|host|proto|port))$/i

/** The name of a header that a proxy sets, in lower case. */
export const HeaderName = text(
  headerNameOf,
  'is not a header that can name people; write one such as X-Forwarded-User',
)

function headerNameOf(name: string): string | undefined {
  return /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name) && !NOT_TO_TRUST.test(name) ? name.toLowerCase() : undefined
}

/** IP addresses and networks. One of all addresses would trust anybody. */
export const Networks = text(
  value => all(value.split(',').map(network => addressesOf(network.trim()))),
  'is not a list of addresses; write IP addresses or networks, with commas between, none of all addresses: 10.1.2.3,10.1.2.0/28',
)

function addressesOf(text: string): Network | undefined {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  const size = family === 4 ? 32 : 128
  const prefix = bits === undefined ? size : Number(bits)
  if (family === 0 || prefix < 1 || prefix > size) return undefined
  return { address, prefix, family: family === 4 ? 'ipv4' : 'ipv6' }
}

/** A header with groups, and the access of each: `X-Forwarded-Groups: sre=full, staff=read`. */
export const GroupAccess = text(
  groupAccessOf,
  'is not a header with groups and their access; write X-Forwarded-Groups: sre=full, staff=read',
)

function groupAccessOf(value: string): Groups | undefined {
  const [, name = '', rest = ''] = /^([^:]*):(.*)$/s.exec(value) ?? []
  const header = headerNameOf(name.trim())
  const pairs = all(
    rest.split(',').map(pair => {
      const [, group, access] = /^\s*(\S(?:.*\S)?)\s*=\s*(full|read)\s*$/s.exec(pair) ?? []
      return group === undefined ? undefined : ([group, access] as const)
    }),
  )
  if (header === undefined || pairs === undefined) return undefined
  const groupsWith = (wanted: string) =>
    pairs.flatMap(([group, access]) => (access === wanted ? [group] : []))
  return { header, full: groupsWith('full'), read: groupsWith('read') }
}
