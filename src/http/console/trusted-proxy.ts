import { BlockList } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { MAX_ACTOR_CHARACTERS } from '#src/model/act.ts'
import type { TrustedProxy } from '#src/model/settings.ts'
import type { Visitor } from './access.ts'

/*
 * A proxy signs people in, and names them in a header. Anybody can send such a header, so it counts only if the connection comes
 * from an address of the proxy: not if another header says so. A name is taken as it is or not at all.
 */

/** What the proxy says of a request. `nobody`: nothing that counts; tokens are asked for. */
export type Named =
  | { readonly is: 'named'; readonly visitor: Visitor }
  | { readonly is: 'nobody' }
  | { readonly is: 'refused'; readonly why: string }

type Request = Pick<FastifyRequest, 'socket' | 'raw'>

/** The first occurrence is logged at once; later ones are counted, and logged after this time. */
const LOG_EVERY_MS = 10_000

/** Returns what tells whom a request is from. Null for no proxy: then no header counts. */
export function createProxyTrust(
  proxy: TrustedProxy | null,
  log: Logger,
  clock = () => performance.now(),
): (request: Request) => Named {
  if (proxy === null) return () => ({ is: 'nobody' })
  const { header, groups } = proxy
  const trusted = new BlockList()
  for (const { address, prefix, family } of proxy.from) trusted.addSubnet(address, prefix, family)
  let quietUntilMs = Number.NEGATIVE_INFINITY
  let unlogged = 0

  function warn(address: string | undefined, text: string): void {
    unlogged += 1
    if (clock() < quietUntilMs) return
    log.warn({ address, header, requests: unlogged }, text)
    quietUntilMs = clock() + LOG_EVERY_MS
    unlogged = 0
  }

  return ({ socket: { remoteAddress }, raw: { headersDistinct } }) => {
    const isSent = header in headersDistinct || (groups !== null && groups.header in headersDistinct)
    if (!isSent) return { is: 'nobody' }
    if (!isIn(trusted, remoteAddress)) {
      warn(
        remoteAddress,
        'A header that names a person was ignored: it came from an address that is not in FERRY_CONSOLE_TRUST_FROM.',
      )
      return { is: 'nobody' }
    }
    const name = oneText(headersDistinct[header])
    if ('wrong' in name) {
      const why = `The proxy's header ${header} ${name.wrong}, so it names nobody.`
      warn(remoteAddress, 'A request of the proxy was refused: its header names nobody.')
      return { is: 'refused', why }
    }
    if (name.text.includes(',')) {
      warn(
        remoteAddress,
        'A request of the proxy was refused: its header has a comma, as if two were joined.',
      )
      return {
        is: 'refused',
        why: `The proxy's header ${header} has a comma, as if two were joined, so it names nobody.`,
      }
    }
    if (groups === null) return named(name.text, 'operate')
    const member = oneText(headersDistinct[groups.header])
    const of = new Set('text' in member ? member.text.split(',').map(group => group.trim()) : [])
    if (groups.full.some(group => of.has(group))) return named(name.text, 'operate')
    if (groups.read.some(group => of.has(group))) return named(name.text, 'read')
    return { is: 'refused', why: `${name.text} is in no group that has access to this console.` }
  }
}

function named(actor: string, access: Visitor['access']): Named {
  return { is: 'named', visitor: { access, actor, byProxy: true } }
}

/** An IPv4 address inside an IPv6 one is itself. */
function isIn(networks: BlockList, remoteAddress = ''): boolean {
  return networks.check(remoteAddress, remoteAddress.includes(':') ? 'ipv6' : 'ipv4')
}

type OneText = { readonly text: string } | { readonly wrong: string }

/** Returns the one value of a header, if it is one that a person may have. Node reads bytes as Latin-1; they are UTF-8. */
function oneText(values: readonly string[] = []): OneText {
  const [value = '', ...more] = values
  if (more.length > 0) return { wrong: 'came more than once' }
  const text = Buffer.from(value, 'latin1').toString('utf8').trim()
  if (text === '') return { wrong: 'is empty or missing' }
  if (/[\p{C}\p{Zl}\p{Zp}\ufffd]/u.test(text)) return { wrong: 'has characters that no name has' }
  if ([...text].length > MAX_ACTOR_CHARACTERS)
    return { wrong: `is longer than ${MAX_ACTOR_CHARACTERS} characters` }
  return { text }
}
