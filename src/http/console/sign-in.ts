import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { Secret } from '#src/model/secret.ts'
import { isToken } from '../token-guard.ts'
import type { Tokens, Visitor } from './access.ts'

/*
 * A browser that signed in gets a cookie, so that it need not be compared with a token again: no guesses of others, who may
 * have the same address behind a proxy, keep it out.
 */

/** After that a browser must sign in again; when it is closed, too. */
const VALID_MS = 7 * 24 * 60 * 60 * 1_000

export type Cookies = {
  /** The value of `Set-Cookie` that makes a browser this visitor, at the server on this port. */
  issue(visitor: Visitor, port: number | undefined): string
  /** The visitor that a `Cookie` header names; null without one that was issued with today's token. */
  read(header: string | undefined, port: number | undefined): Visitor | null
}

/** Returns the cookies of a console. They end with the token that they stand for, and hold for all workers that have it. */
export function createCookies(tokens: Tokens, clock = Date.now): Cookies {
  function sign(access: Visitor['access'], text: string): Buffer | null {
    const token = tokens[access]
    return token && createHmac('sha256', token.reveal()).update(`ferry console cookie ${text}`).digest()
  }

  return {
    issue({ access, actor }, port) {
      const text = `${clock()}.${access}.${Buffer.from(actor).toString('base64url')}`
      const value = `${text}.${sign(access, text)?.toString('base64url')}`
      return `${nameAt(port)}=${value}; Path=/; HttpOnly; SameSite=Strict`
    },
    read(header, port) {
      for (const cookie of (header ?? '').split(/; */)) {
        const [name, value = ''] = cookie.split('=')
        const [, text = '', issuedAt, access, actor = '', signature = ''] =
          /^((\d{1,15})[.](read|operate)[.]([\w-]*))[.]([\w-]{43})$/.exec(value) ?? []
        if (name !== nameAt(port) || (access !== 'read' && access !== 'operate')) continue
        const signed = sign(access, text)
        const age = clock() - Number(issuedAt)
        if (!signed || !timingSafeEqual(signed, Buffer.from(signature, 'base64url'))) continue
        if (age < 0 || age > VALID_MS) continue
        return { access, actor: Buffer.from(actor, 'base64url').toString('utf8') }
      }
      return null
    },
  }
}

/** Browsers send a cookie to every port of a host, and several Ferrys may run on one. */
function nameAt(port: number | undefined): string {
  return `ferry-${port}`
}

/** A code in an address that signs in whoever uses it first. */
export type OneTimeCode = {
  readonly path: string
  /** True for the first use. */
  use(given: string): boolean
}

export function createOneTimeCode(): OneTimeCode {
  const code = new Secret(randomBytes(24).toString('base64url'))
  let isUsed = false
  return {
    path: `/sign-in?code=${code.reveal()}`,
    use(given) {
      if (isUsed || !isToken(given, code)) return false
      isUsed = true
      return true
    },
  }
}
