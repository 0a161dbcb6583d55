import { domainToUnicode } from 'node:url'
import { ANY_ADDRESS, decodedText, holds, holdsAddress, withoutWords } from '#src/model/addresses.ts'
import { firstOf } from '#src/model/cut-text.ts'
import { cleanString } from '#src/platform/clean-text.ts'
import { asciiForm } from './spellings.ts'

/*
 * Texts of the platform, such as error messages: which recipients they name, and the same text without recipients. A
 * recipient may be spelled as it stands in a URL, in HTML, in JSON or in another encoding.
 */

export type Addressee = { readonly line: bigint; readonly recipient: string }

/** Returns the lines of the recipients that `message` names. An address that is only a part of another one does not count. */
export function namedIn(message: string, addressees: readonly Addressee[]): bigint[] {
  const whole = wholeWords(message)
  const raw = lowerCase(whole)
  const decoded = lowerCase(decodedText(whole))
  const linesOf = (isNamed: (spelling: string) => boolean) =>
    addressees.filter(({ recipient }) => spellings(recipient).some(isNamed)).map(({ line }) => line)
  // A recipient that decoding changes can only be named as it is; decoded it may be another person.
  const isOdd = (spelling: string) => decodedText(spelling) !== spelling
  const odd = linesOf(spelling => isOdd(spelling) && hasToken(raw, spelling))
  if (odd.length > 0) return linesOf(spelling => hasToken(raw, spelling))
  return linesOf(spelling => !isOdd(spelling) && hasToken(decoded, spelling))
}

/** No more of a message is searched: it names some thousands of recipients then, and the others are found by halving. */
const MAX_SEARCHED = 50_000

/** Returns the beginning of a message without its last word if it is cut: of an address the beginning may be another one. */
function wholeWords(message: string): string {
  if (message.length <= MAX_SEARCHED) return message
  let end = MAX_SEARCHED
  while (end > 0 && !/\s/.test(message.charAt(end - 1))) end--
  return message.slice(0, end)
}

type Rows = readonly (Addressee & { readonly componentIds: readonly string[] })[]

/** Whether `message` is about the page: it names the page, or the field `page_id`, and nothing that differs from row to row. */
export function isAboutPage(message: string, pageId: bigint, rows: Rows): boolean {
  const text = lowerCase(message)
  return (hasToken(text, String(pageId)) || PAGE_FIELD.test(text)) && isAboutNoRow(message, rows)
}

/** Whether `message` names nothing that differs from row to row: no recipient, no component, and no field of a row. */
export function isAboutNoRow(message: string, rows: Rows): boolean {
  const text = lowerCase(message)
  const components = new Set(rows.flatMap(row => row.componentIds.map(lowerCase)))
  return (
    !ROW_FIELD.test(text) &&
    namedIn(message, rows).length === 0 &&
    ![...components].some(component => component !== '' && hasToken(text, component))
  )
}

const PAGE_FIELD = /(?<![\p{L}\p{N}_])page_id(?![\p{L}\p{N}_])/u
const ROW_FIELD = /(?<![\p{L}_])(?:recipient|component_ids|locale)(?![\p{L}_])|subscribers?\W{0,2}\d/u

/** A longer text is cut off. */
const MAX_SHOWN = 1_000
/** More than any recipient has: one that begins before the cut ends before this. */
const MARGIN = 1_000

/**
 * Returns the first 1,000 characters of `message` with `<recipient>` in the place of every address. Text that names somebody in
 * another spelling is decoded. It is shown only where recipients may be shown; elsewhere only the platform's code is: a program
 * cannot know every spelling.
 */
export function withoutRecipients(message: string, addressees: readonly Addressee[]): string {
  const text = firstOf(message, MAX_SHOWN + MARGIN)
  const all = addressees.flatMap(({ recipient }) => spellings(recipient))
  const decoded = decodedText(text)
  const isEscaped = masked(decoded, all) !== decoded
  const shown = withoutWords(masked(isEscaped ? decoded : text, all), part => holdsAny(part, all), MASK)
  if (shown === null) return MASK
  // Decoded, it may have what Postgres does not store.
  return firstOf(
    cleanString(shown),
    text.length < message.length ? Math.min(MAX_SHOWN, shown.length - MARGIN) : MAX_SHOWN,
  )
}

/** Masks a recipient: `a…@example.com`. */
export function maskRecipient(recipient: string): string {
  const at = recipient.lastIndexOf('@')
  const [first = ''] = recipient
  return at > 0 ? `${first}…${recipient.slice(at)}` : `${first}…`
}

const MASK = '<recipient>'

function masked(text: string, all: readonly string[]): string {
  let shown = text
  for (const spelling of all) {
    for (let at = tokenAt(lowerCase(shown), spelling, 0); at >= 0; ) {
      shown = shown.slice(0, at) + MASK + shown.slice(at + spelling.length)
      at = tokenAt(lowerCase(shown), spelling, at + MASK.length)
    }
  }
  return shown.replace(ANY_ADDRESS, MASK)
}

function holdsAny(shown: string, all: readonly string[]): boolean {
  const text = shown.replaceAll(MASK, ' ')
  return holdsAddress(text) || holds(text, decoded => all.some(one => hasToken(lowerCase(decoded), one)))
}

/** The recipient as it is, as it stands in a JSON string, and with its domain in and without ASCII. */
function spellings(recipient: string): string[] {
  const plain = lowerCase(recipient)
  if (plain === '') return []
  const at = plain.lastIndexOf('@') + 1
  const unicode = plain.includes('xn--', at) ? plain.slice(0, at) + domainToUnicode(plain.slice(at)) : plain
  return [...new Set([plain, JSON.stringify(plain).slice(1, -1), asciiForm(plain), unicode])]
}

/** In lower case, and as long as before: what is found at a place of it is at the same place of `text`. */
function lowerCase(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase()
}

function hasToken(text: string, token: string): boolean {
  return tokenAt(text, token, 0) >= 0
}

/**
 * Returns where `token` stands as a whole word, or -1. A quote next to it is not part of it, because messages put recipients
 * in quotes; a quote inside an address (o'brien@...) is. A full stop is a part only if more follows.
 */
function tokenAt(text: string, token: string, from: number): number {
  for (let at = text.indexOf(token, from); at >= 0; at = text.indexOf(token, at + 1)) {
    const before = text.slice(Math.max(0, at - 2), at)
    const after = text.slice(at + token.length, at + token.length + 2)
    if (!PART_BEFORE.test(before) && !PART_AFTER.test(after)) return at
  }
  return -1
}

const PART_BEFORE = /[\p{L}\p{N}_%+@-]$|[\p{L}\p{N}]['.]$|[_%+-]\.$/u
const PART_AFTER = /^[\p{L}\p{N}_%+@-]|^['.][\p{L}\p{N}]/u
