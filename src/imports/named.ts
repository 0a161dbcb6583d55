/*
 * The platform's words: whom or what they name, and the words without recipients.
 */

export type Addressee = { readonly line: bigint; readonly recipient: string }

/** Returns the lines of those whose recipient stands in `message` as a whole, not as a part of another's. */
export function namedIn(message: string, addressees: readonly Addressee[]): bigint[] {
  const text = message.toLowerCase()
  return addressees
    .filter(({ recipient }) => spellings(recipient).some(spelling => hasToken(text, spelling)))
    .map(({ line }) => line)
}

/**
 * Whether `message` names the page and nothing that only some rows have, a recipient or a component: then it is about what
 * all rows have in common.
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

/** Returns `message` with `<recipient>` for everybody it may name: it is shown and logged. */
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

/** Whatever looks like an address of e-mail, of this batch or not. */
const ANY_ADDRESS = /[^\s"'<>()[\],;:]+@[^\s"'<>()[\],;:]+[^\s"'<>()[\],;:.!?]/g

/** As it is, and as JSON writes it. */
function spellings(recipient: string): string[] {
  const plain = recipient.toLowerCase()
  const escaped = JSON.stringify(plain).slice(1, -1)
  return plain === '' ? [] : plain === escaped ? [plain] : [plain, escaped]
}

function hasToken(text: string, token: string): boolean {
  return tokenAt(text, token, 0) >= 0
}

/**
 * Where `token` stands as a whole: nothing next to it could be a part of it. A quote may be (o'brien@...), but
 * messages put recipients in quotes; a full stop is a part only if more follows.
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
