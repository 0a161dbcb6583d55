import { isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { MAX_ACTOR_CHARACTERS } from '#src/model/act.ts'
import type { Secret } from '#src/model/secret.ts'
import { isToken } from '../token.ts'

/*
 * Who may look, and who may decide. Two tokens: one to read, one to operate. A browser asks a person for them (Basic: any
 * name, the token as the password), a script sends `Authorization: Bearer`. Without tokens everybody on this machine may do
 * everything, and nobody else may do anything.
 */

export type Access = 'read' | 'operate'

export type Tokens = { readonly operate: Secret | null; readonly read: Secret | null }

/** Somebody who may look. `actor` is the name in the audit: the token's, and the name that was given with it. */
export type Visitor = { readonly access: Access; readonly actor: string }

/** What is known of a request before anything of it is believed. */
export type Caller = {
  readonly authorization: string | undefined
  readonly host: string | undefined
  readonly remoteAddress: string | undefined
  /** Whether a proxy says that it asks for somebody else. One that says nothing cannot be told from a browser. */
  readonly isForwarded: boolean
}

/** Returns who asks, or null if nobody who may. Takes the same time for every wrong token. */
export function visitorOf(tokens: Tokens, caller: Caller): Visitor | null {
  if (!tokens.operate && !tokens.read) {
    return isOnThisMachine(caller) ? { access: 'operate', actor: 'console on this machine' } : null
  }
  const { name, token } = credentialsIn(caller.authorization)
  const mayOperate = tokens.operate !== null && isToken(token, tokens.operate)
  const mayRead = tokens.read !== null && isToken(token, tokens.read)
  if (!mayOperate && !mayRead) return null
  const access = mayOperate ? 'operate' : 'read'
  const said = name === '' ? '' : `: ${name}`
  return { access, actor: [...`console, ${access} token${said}`].slice(0, MAX_ACTOR_CHARACTERS).join('') }
}

/** A proxy on this machine asks for others: without tokens it is refused, by what it adds and by the name it is called. */
function isOnThisMachine({ host, remoteAddress, isForwarded }: Caller): boolean {
  const name = host?.replace(/:\d+$/, '').toLowerCase() ?? ''
  return isLoopbackAddress(remoteAddress ?? '') && isLoopbackName(name) && !isForwarded
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127[.]/.test(address)
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || (isIP(name) === 4 && name.startsWith('127.'))
}

type Credentials = { readonly name: string; readonly token: string }

function credentialsIn(authorization: string | undefined): Credentials {
  const [, scheme = '', given = ''] = /^(basic|bearer) +(\S+)$/i.exec(authorization ?? '') ?? []
  if (scheme.toLowerCase() !== 'basic') return { name: '', token: given }
  const [, name = '', token = ''] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(given, 'base64').toString('utf8')) ?? []
  return { name: name.replaceAll(/\p{C}/gu, '').trim(), token }
}

/** A wrong token is answered after this long, one at a time. */
const FAILURE_TAKES_MS = 1_000
/** So many may wait for that; others are turned away at once. */
const MAX_WAITING = 10

export type FailureBrake = { wait(signal: AbortSignal): Promise<'waited' | 'too many'> }

/** Slows down whoever tries tokens: about one a second for all of them together. Right tokens never wait. */
export function createFailureBrake(): FailureBrake {
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()
  return {
    async wait(signal) {
      if (waiting >= MAX_WAITING) return 'too many'
      waiting += 1
      const turn = last.then(() => delay(FAILURE_TAKES_MS, null, { signal }).catch(() => null))
      last = turn
      await turn
      waiting -= 1
      return 'waited'
    },
  }
}
