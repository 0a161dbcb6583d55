import { MAX_ACTOR_CHARACTERS } from '#src/model/act.ts'
import type { Secret } from '#src/model/secret.ts'
import { isToken } from '../token-guard.ts'

/*
 * Access to the console: one token to read, one to operate. A browser asks for them (Basic: any name, the token as the
 * password), a script sends `Authorization: Bearer`. Without a token there is no console.
 */

export type Access = 'read' | 'operate'

/** At least one is set. */
export type Tokens = Readonly<Record<Access, Secret | null>>

/**
 * Somebody who may look or operate. `actor` is the name in the audit: of somebody with a token the token's, and the name that was
 * given with it; `byProxy`: of a person whom the trusted proxy has signed in.
 */
export type Visitor = { readonly access: Access; readonly actor: string; readonly byProxy?: true }

/** Returns the visitor of an `Authorization` header, or null if its token is wrong. Takes the same time for every wrong one. */
export function visitorOf(tokens: Tokens, authorization: string): Visitor | null {
  const { name, token } = credentialsIn(authorization)
  const mayOperate = tokens.operate !== null && isToken(token, tokens.operate)
  const mayRead = tokens.read !== null && isToken(token, tokens.read)
  if (!mayOperate && !mayRead) return null
  const access = mayOperate ? 'operate' : 'read'
  return { access, actor: actorOf(access, name) }
}

/** The name in the audit of somebody with a token, who may have given a name too. */
export function actorOf(access: Access, name = ''): string {
  const said = name === '' ? '' : `: ${name}`
  return [...`console, ${access} token${said}`].slice(0, MAX_ACTOR_CHARACTERS).join('')
}

type Credentials = { readonly name: string; readonly token: string }

function credentialsIn(authorization: string): Credentials {
  const [, scheme = '', given = ''] = /^(basic|bearer) +(\S+)$/i.exec(authorization) ?? []
  if (scheme.toLowerCase() !== 'basic') return { name: '', token: given }
  const [, name = '', token = ''] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(given, 'base64').toString('utf8')) ?? []
  return { name: name.replaceAll(/\p{C}/gu, '').trim(), token }
}
