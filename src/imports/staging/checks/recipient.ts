import { asciiForm, BEYOND_ASCII } from '#src/imports/spellings.ts'
import { isEmail, isLenientEmail } from './email.ts'

const LONGEST = 255

/** Control characters, and what a file of rejects has in the place of characters that could not be read. */
const UNREADABLE = /[\p{Cc}\u2400\ufffd]/u

/** The reason why addresses are rejected that `--lenient-addresses` accepts. */
export const UNUSUAL = 'unusual e-mail address'

/** Returns what is wrong with a recipient, without the recipient itself; null if nothing is. */
export type RecipientCheck = (
  recipient: string,
) => { readonly reason: string; readonly message: string } | null

/** Returns the check for recipients of `method`: an e-mail address, or for another method any text. */
export function openRecipientCheck(method: string, isLenient: boolean): RecipientCheck {
  const tooLong = method === 'email' ? hasTooManyOctets : (text: string) => text.length > LONGEST
  const unit = method === 'email' ? 'octets' : 'characters'
  return recipient => {
    if (recipient === '') return { reason: 'no recipient', message: 'the row has no recipient' }
    if (tooLong(recipient)) {
      return { reason: 'recipient too long', message: `the recipient is longer than ${LONGEST} ${unit}` }
    }
    if (/[\r\n]/.test(recipient)) {
      return { reason: 'unreadable recipient', message: 'the recipient holds a line break' }
    }
    if (UNREADABLE.test(recipient)) {
      const message = 'the recipient holds a character that could not be read'
      return { reason: 'unreadable recipient', message }
    }
    if (method !== 'email' || isEmail(recipient)) return null
    if (!isLenientEmail(recipient)) {
      return { reason: 'not an e-mail address', message: 'the recipient is not an e-mail address' }
    }
    if (isLenient) return null
    const message =
      'the recipient breaks a rule of e-mail addresses that some real mailboxes break; --lenient-addresses accepts it'
    return { reason: UNUSUAL, message }
  }
}

/** As it is written, or with its domain in ASCII, as mail programs send it. */
function hasTooManyOctets(address: string): boolean {
  if (!BEYOND_ASCII.test(address)) return address.length > LONGEST
  return Buffer.byteLength(address) > LONGEST || Buffer.byteLength(asciiForm(address)) > LONGEST
}
