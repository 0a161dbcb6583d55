import { openEmailCheck } from './email.ts'
import { hasStrangeCharacters, isUnreadable } from './values.ts'

const LONGEST = 255

/** Says what is wrong with a recipient, without naming it; null for nothing. */
export type RecipientCheck = (
  recipient: string,
) => { readonly reason: string; readonly message: string } | null

/** Returns the check for recipients of `method`: an e-mail address, or for another method anything that is there. */
export function openRecipientCheck(method: string): RecipientCheck {
  const isEmail = openEmailCheck()
  return recipient => {
    if (recipient === '') return { reason: 'no recipient', message: 'the row has no recipient' }
    if (recipient.length > LONGEST) {
      return { reason: 'recipient too long', message: `the recipient is longer than ${LONGEST} characters` }
    }
    if (isUnreadable(recipient)) {
      return {
        reason: 'unreadable recipient',
        message: 'the recipient holds a character that could not be read',
      }
    }
    if (method !== 'email' || (isEmail(recipient) && !hasStrangeCharacters(recipient))) return null
    return { reason: 'not an e-mail address', message: 'the recipient is not an e-mail address' }
  }
}
