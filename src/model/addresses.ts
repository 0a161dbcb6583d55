import { isUtf8 } from 'node:buffer'

/*
 * E-mail addresses in texts of others, however programs spell them: in URLs (`%40`), HTML (`&#64;`), JSON (`\u0040`), mails
 * (`=40`), full-width characters, base64 and hexadecimal digits, and any of these inside another.
 */

/** A text that was escaped more often than this counts as one that holds an address. */
const MAX_ROUNDS = 8
/** So often base64 in base64 is looked into. */
const MAX_PACKINGS = 3

/**
 * Returns `text` with every escape replaced by the character that it stands for, and without invisible characters. An escape
 * of mails (`=40`) stays: `email=ada@...` would be one.
 */
export function decodedText(text: string): string {
  return decodeAll(text, decodeOnce).text
}

/** Whether an address stands in `text` in any spelling, or whether that cannot be told. */
export function holdsAddress(text: string): boolean {
  return holds(text, (decoded, isPacked) => (isPacked ? WHOLE_ADDRESS : ADDRESS).test(decoded))
}

/**
 * Whether `isFound` for `text` in any spelling, or for a part of it that can be decoded (`isPacked`): such a part may be
 * there by chance.
 */
export function holds(
  text: string,
  isFound: (decoded: string, isPacked: boolean) => boolean,
  packings = 0,
): boolean {
  const { text: decoded, isWhole } = decodeAll(text, one => decodeOnce(one).replace(MAIL_ESCAPES, fromMail))
  const both = [text, decoded]
  if (!isWhole || both.some(one => isFound(one, packings > 0))) return true
  if (packings === MAX_PACKINGS) return false
  return both.some(one => packedIn(one).some(inner => holds(inner, isFound, packings + 1)))
}

/** Returns `text` with `mask` for each word of which `isIn` is true; null if it is true of what is left, over several words. */
export function withoutWords(text: string, isIn: (part: string) => boolean, mask: string): string | null {
  if (!isIn(text)) return text
  const left = text.replace(/\S+/g, word => (isIn(word) ? mask : word))
  return isIn(left) ? null : left
}

/** An address, or what begins like one. */
const ADDRESS = /[^\s"'<>()[\],;:@]@[^\s"'<>()[\],;:@]/
const WHOLE_ADDRESS = /[^\s"'<>()[\],;:@]@[\p{L}\p{N}-]+\.[\p{L}\p{N}]/u

/** Anything that looks like an address, to be replaced. */
export const ANY_ADDRESS = /[^\s"'<>()[\],;:@]{1,320}@[^\s"'<>()[\],;:]{0,320}[^\s"'<>()[\],;:.!?]/g

/** A run that may be base64, base64url or hexadecimal digits. */
const PACKED = /[A-Za-z0-9+/_-]{7,}={0,2}/g

function decodeAll(text: string, decode: (text: string) => string) {
  let decoded = text
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = decode(decoded)
    if (next === decoded) return { text: decoded, isWhole: true }
    decoded = next
  }
  return { text: decoded, isWhole: decode(decoded) === decoded }
}

function decodeOnce(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/(?:%[0-9a-f]{2})+/gi, fromPercent)
    .replace(/[%\\]u([0-9a-f]{4})|\\u\{0*([0-9a-f]{1,6})\}|\\x([0-9a-f]{2})/gi, fromHex)
    .replace(/\\([0-7]{3})/g, (whole, digits: string) => characterOf(Number.parseInt(digits, 8), whole))
    .replace(/\\(["'\\/])/g, '$1')
    .replace(/&#(?:x0*([0-9a-f]{1,6})|0*(\d{1,7}));?/gi, fromReference)
    .replace(/&([a-z]{2,8});/gi, (whole, name: string) => NAMED[name.toLowerCase()] ?? whole)
}

function fromPercent(whole: string): string {
  try {
    return decodeURIComponent(whole)
  } catch {
    return Buffer.from(whole.replaceAll('%', ''), 'hex').toString('latin1')
  }
}

function fromHex(whole: string, ...groups: unknown[]): string {
  const digits = groups.slice(0, 3).find(group => typeof group === 'string') as string | undefined
  return digits === undefined ? whole : characterOf(Number.parseInt(digits, 16), whole)
}

function fromReference(whole: string, hex?: string, decimal?: string): string {
  return characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16), whole)
}

function characterOf(codePoint: number, otherwise: string): string {
  return codePoint > 0 && codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : otherwise
}

/** Those that may stand in an address, and those that escape an escape. */
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  commat: '@',
  dash: '-',
  dollar: '$',
  equals: '=',
  excl: '!',
  gt: '>',
  hyphen: '-',
  lowbar: '_',
  lt: '<',
  nbsp: ' ',
  num: '#',
  percnt: '%',
  period: '.',
  plus: '+',
  quot: '"',
  semi: ';',
  shy: '',
  sol: '/',
  bsol: '\\',
}

const MAIL_ESCAPES = /(?:=[0-9A-Fa-f]{2})+|=\r?\n/g

function fromMail(whole: string): string {
  const bytes = Buffer.from(whole.replaceAll(/=|\s/g, ''), 'hex')
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
}

/** Decodes the runs of a text as base64, from any of their first characters on, and as hexadecimal digits. */
function packedIn(text: string): string[] {
  return [...text.matchAll(PACKED)].flatMap(([run]) => {
    const found = [0, 1, 2, 3].map(skipped => Buffer.from(run.slice(skipped), 'base64'))
    const hex = /[0-9a-f]{10,}/i.exec(run)?.[0]
    if (hex !== undefined) found.push(Buffer.from(hex, 'hex'), Buffer.from(hex.slice(1), 'hex'))
    return found.flatMap(textsIn)
  })
}

/** The parts of some bytes that may be text. The shortest address is `a@b.c`. */
function textsIn(bytes: Buffer): string[] {
  return isUtf8(bytes)
    ? (bytes.toString('utf8').match(/[^\p{Cc}\p{Cn}\ufffd]{5,}/gu) ?? [])
    : (bytes.toString('latin1').match(/[\x20-\x7e]{5,}/g) ?? [])
}
