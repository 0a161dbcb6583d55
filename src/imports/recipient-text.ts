/*
 * Texts of the platform, such as error messages: which recipients they name, and the same text without recipients.
 */

export type Addressee = { readonly line: bigint; readonly recipient: string }

/** Returns the lines of the recipients that `message` names. An address that is only a part of another one does not count. */
export function namedIn(message: string, addressees: readonly Addressee[]): bigint[] {
  const text = message.toLowerCase()
  return addressees
    .filter(({ recipient }) => spellings(recipient).some(spelling => hasToken(text, spelling)))
    .map(({ line }) => line)
}

/**
 * Whether `message` is about the page: it names the page, and nothing that differs from row to row (a recipient or a
 * component).
 */
export function isAboutPage(
  message: string,
  pageId: bigint,
  rows: readonly (Addressee & { readonly componentIds: readonly string[] })[],
): boolean {
  const text = message.toLowerCase()
  const components = new Set(rows.flatMap(row => row.componentIds.map(id => id.toLowerCase())))
  return (
    hasToken(text, String(pageId)) &&
    namedIn(message, rows).length === 0 &&
    ![...components].some(component => component !== '' && hasToken(text, component))
  )
}

/** Returns `message` with `<recipient>` in the place of every address, so that it may be shown and logged. */
export function withoutRecipients(message: string, addressees: readonly Addressee[]): string {
  let text = message
  for (const { recipient } of addressees) {
    for (const spelling of spellings(recipient)) {
      for (let at = tokenAt(text.toLowerCase(), spelling, 0); at >= 0; ) {
        text = `${text.slice(0, at)}<recipient>${text.slice(at + spelling.length)}`
        at = tokenAt(text.toLowerCase(), spelling, at + '<recipient>'.length)
      }
    }
  }
  return text.replace(ANY_ADDRESS, '<recipient>')
}

/** Anything that looks like an e-mail address, also one that is not in the batch. */
const ANY_ADDRESS = /[^\s"'<>()[\],;:]+@[^\s"'<>()[\],;:]+[^\s"'<>()[\],;:.!?]/g

/** The recipient as it is, and as it stands in a JSON string. */
function spellings(recipient: string): string[] {
  const plain = recipient.toLowerCase()
  const escaped = JSON.stringify(plain).slice(1, -1)
  return plain === '' ? [] : plain === escaped ? [plain] : [plain, escaped]
}

function hasToken(text: string, token: string): boolean {
  return tokenAt(text, token, 0) >= 0
}

/**
 * Returns where `token` stands as a whole word, or -1. A quote next to it is no part of it, because messages put recipients
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
