import { isEmail } from './email.ts'

const LONGEST = 255

/** Control characters, and the stand-ins that a file of rejects has for what could not be read. */
const UNREADABLE = /[\p{Cc}\u2400\ufffd]/u

/** Says what is wrong with a recipient, without naming it; null for nothing. */
export type RecipientCheck = (
  recipient: string,
) => { readonly reason: string; readonly message: string } | null

/** Returns the check for recipients of `method`: an e-mail address, or for another method anything that is there. */
export function openRecipientCheck(method: string): RecipientCheck {
  return recipient => {
    if (recipient === '') return { reason: 'no recipient', message: 'the row has no recipient' }
    if (recipient.length > LONGEST) {
      return { reason: 'recipient too long', message: `the recipient is longer than ${LONGEST} characters` }
    }
    if (UNREADABLE.test(recipient)) {
      const message = 'the recipient holds a character that could not be read'
      return { reason: 'unreadable recipient', message }
    }
    if (method !== 'email' || isEmail(recipient)) return null
    return { reason: 'not an e-mail address', message: 'the recipient is not an e-mail address' }
  }
}
