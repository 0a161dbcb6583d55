import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Secret } from '#src/model/secret.ts'

/** A page with a form may stay open so long. */
const VALID_MS = 60 * 60 * 1_000

export type FormTokens = {
  /** The token for the form of one action, such as `/imports/7/pause`. */
  issue(action: string): string
  /** Whether `token` was issued for this action within the last hour. */
  isValid(action: string, token: string): boolean
}

/**
 * Returns the tokens without which no form is accepted: a page of a stranger can send a form here, but cannot read one.
 * Workers with the same operate token accept each other's. Without one the tokens are good until the worker ends.
 */
export function createFormTokens(operateToken: Secret | null, clock = Date.now): FormTokens {
  const key = operateToken
    ? createHmac('sha256', operateToken.reveal()).update('ferry console forms').digest()
    : randomBytes(32)
  const sign = (action: string, issuedAt: number) =>
    createHmac('sha256', key).update(`${issuedAt} ${action}`).digest('base64url')
  return {
    issue(action) {
      const issuedAt = clock()
      return `${issuedAt}.${sign(action, issuedAt)}`
    },
    isValid(action, token) {
      const [, issued = '', signature = ''] = /^(\d{1,15})[.]([\w-]{43})$/.exec(token) ?? []
      if (signature === '') return false
      const age = clock() - Number(issued)
      const isSigned = timingSafeEqual(Buffer.from(signature), Buffer.from(sign(action, Number(issued))))
      return isSigned && age >= 0 && age <= VALID_MS
    },
  }
}
