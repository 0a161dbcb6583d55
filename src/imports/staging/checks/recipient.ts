import { domainToASCII, domainToUnicode } from 'node:url'
import { isEmailValid } from '@hapi/address'
import { asciiForm, BEYOND_ASCII } from '#src/imports/spellings.ts'

const LONGEST = 255

/** Control characters, and what a file of rejects has in the place of characters that could not be read. */
const UNREADABLE = /[\p{Cc}\u2400\ufffd]/u
/** Marks of direction, zero-width spaces, soft hyphens, byte order marks: of a recipient that is no address too. */
const UNSEEN = '\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff'
const HAS_UNSEEN = new RegExp(`[${UNSEEN}]`)
const UNSEEN_AROUND = new RegExp(`^[\\s${UNSEEN}]+|[\\s${UNSEEN}]+$`, 'g')

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
      return { reason: 'unreadable recipient', message: 'the recipient contains a line break' }
    }
    if (UNREADABLE.test(recipient) || (method !== 'email' && HAS_UNSEEN.test(recipient))) {
      const message = 'the recipient contains an unreadable character'
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

/** RFC 5321, 4.5.3.1.1, in bytes. */
const MAX_LOCAL_BYTES = 64

/** Matches nearly all addresses, and none that the check below refuses; it is much faster. */
const PLAIN =
  /^[\w!#$%&'*+\-/=?^`{|}~]+(?:\.[\w!#$%&'*+\-/=?^`{|}~]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

/** Control characters, spaces and invisible characters. */
const NOT_PRINTED = /[\p{C}\p{Z}]/u

/**
 * Marks of typography and symbols, and what shows nothing: in no name of a mailbox, but around addresses that were copied out of a
 * text. Between letters, those that join them in some languages are letters too.
 */
const NO_LETTER = /(?!\p{ASCII}|(?<=\p{L})[·・׳״]\p{L})[\p{P}\p{S}]|\p{Default_Ignorable_Code_Point}/u
/** One of the dots that IDNA takes for a dot. */
const DOT = /(?<=[\p{L}\p{N}])[。．｡](?=[\p{L}\p{N}])/gu
/** There are domains of emoji. */
const EMOJI = /(?![©®])(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator})\ufe0f?/gu

/** Whether it is an e-mail address by the rules, without quoted local parts, comments or IP addresses. */
export function isEmail(address: string): boolean {
  const at = address.indexOf('@')
  if (PLAIN.test(address)) return at <= MAX_LOCAL_BYTES
  return hasFormOfEmail(address) && Buffer.byteLength(address.slice(0, at)) <= MAX_LOCAL_BYTES
}

/**
 * Whether it is an e-mail address if the rules that some real mailboxes break are left out: dots at the ends of the local part
 * or several in a row (docomo issued such addresses), a longer local part, an underscore in the domain.
 */
export function isLenientEmail(address: string): boolean {
  const at = address.lastIndexOf('@')
  if (at === -1) return false
  const local = address.slice(0, at).replace(/^\.+|\.+$|\.(?=\.)/g, '')
  const labels = address.slice(at + 1).split('.')
  const domain = labels.map((label, n) => (n < labels.length - 1 ? label.replaceAll('_', 'x') : label))
  return hasFormOfEmail(`${local}@${domain.join('.')}`)
}

function hasFormOfEmail(address: string): boolean {
  if (PLAIN.test(address)) return true
  if (NOT_PRINTED.test(address) || hasMark(address)) return false
  return isEmailValid(address, { ignoreLength: true })
}

/** Whether something in it is no part of a name: marks, but for emoji of a domain that are written as they are sent, and not at its end. */
function hasMark(text: string): boolean {
  const address = text.replace(DOT, '.')
  if (!NO_LETTER.test(address)) return false
  const at = address.lastIndexOf('@') + 1
  const end = address.lastIndexOf('.')
  const domain = address.slice(at, end)
  const others = address.slice(0, at) + domain.replace(EMOJI, 'x') + address.slice(end)
  // IDNA makes `tm` of ™.
  const sentAs = domainToUnicode(domainToASCII(domain))
  return NO_LETTER.test(others) || sentAs !== domain.replaceAll('\ufe0f', '').toLowerCase().normalize()
}

/** Invisible characters: zero-width spaces, soft hyphens, marks of direction, byte order marks. */
const UNSEEN_AT_ENDS = /^[\s\p{Default_Ignorable_Code_Point}]+|[\s\p{Default_Ignorable_Code_Point}]+$/gu
const SEPARATORS_AT_END = /[\s,;\p{Default_Ignorable_Code_Point}]+$/u
/** Marks of typography around an address, and the apostrophe with which a spreadsheet marks text. */
const MARKS_AROUND = /^[\s\p{Pi}\p{Pf}„‚•]+|^'(?=.*[^'\s]$)|[\s\p{Pi}\p{Pf}]+$/gu
/** As mail programs write an address: `Ada Lovelace <ada@example.com>`. */
const WITH_NAME = /^([^<>\r\n]*)<([^<>]+)>$/
const ANOTHER_ADDRESS = /\S@\S/

/** In characters: an address with a name before it. */
const MAX_CLEANED = 4 * LONGEST

export type CleanAddress = {
  readonly address: string
  /** The kind of text that was removed from it. */
  readonly cleaned: 'unseen characters' | 'name or separator' | null
}

/** Removes from a recipient of `method` what is around it and is no part of it. */
export function cleanRecipient(text: string, method: string): CleanAddress {
  if (method === 'email') return cleanAddress(text)
  const address = text.replace(UNSEEN_AROUND, '')
  return { address, cleaned: address === text ? null : 'unseen characters' }
}

/** Removes from an address what people and programs put around it. An address with nothing around it is returned as it is. */
export function cleanAddress(text: string): CleanAddress {
  if (isPlain(text.charCodeAt(0)) && isPlain(text.charCodeAt(text.length - 1)))
    return { address: text, cleaned: null }
  // No address, whatever is removed: it would only take long.
  if (text.length > MAX_CLEANED) return { address: text, cleaned: null }
  const seen = withoutUnseen(text)
  const alone = seen.replace(SEPARATORS_AT_END, '')
  const address = withoutUnseen(withoutName(alone)).replace(MARKS_AROUND, '')
  if (address !== seen) return { address, cleaned: 'name or separator' }
  return { address, cleaned: seen === text ? null : 'unseen characters' }
}

/** What another address is before one is no name: whoever it belongs to would be lost. */
function withoutName(text: string): string {
  const [, name = '', address = text] = WITH_NAME.exec(text) ?? []
  return ANOTHER_ADDRESS.test(name.replaceAll(address, '')) ? text : address
}

/** Whether it is an ASCII letter or digit: nearly all addresses begin and end with one. */
function isPlain(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
}

function withoutUnseen(text: string): string {
  return text.replace(UNSEEN_AT_ENDS, '')
}
