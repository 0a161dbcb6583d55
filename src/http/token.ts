import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret } from '#src/model/secret.ts'

/** Whether an `Authorization` header bears the token. Takes the same time for every wrong one. */
export function bearsToken(authorization: string, token: Secret): boolean {
  const [, given = ''] = /^bearer +(\S+)$/i.exec(authorization) ?? []
  return isToken(given, token)
}

/** Whether the text is the token. Takes the same time for every wrong one, however long it is. */
export function isToken(given: string, token: Secret): boolean {
  return timingSafeEqual(hashOf(given), hashOf(token.reveal()))
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
