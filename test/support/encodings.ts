/** Ways in which programs write a text so that its `@` is not there any more. Each can be applied to the result of another. */
export const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  'in a URL': encodeURIComponent,
  'with every character percent-encoded': text =>
    [...Buffer.from(text)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  'with decimal references': text => text.replaceAll('&', '&#38;').replaceAll('@', '&#64;'),
  'with references in hexadecimal digits, without a semicolon': text =>
    text.replaceAll('&', '&#x26;').replaceAll('@', '&#X0040'.concat(';')),
  'with named references': text =>
    text.replaceAll('&', '&amp;').replaceAll('@', '&commat;').replaceAll('.', '&period;'),
  'in JSON': text => JSON.stringify(text).slice(1, -1).replaceAll('@', '\\u0040'),
  'in JavaScript': text => text.replaceAll('\\', '\\x5c').replaceAll('@', '\\x40'),
  'in octal digits': text => text.replaceAll('\\', '\\134').replaceAll('@', '\\100'),
  'in a mail': text => text.replaceAll('=', '=3D').replaceAll('@', '=40'),
  'in full-width characters': text => text.replaceAll('@', '\uff20'),
  'with invisible characters': text => text.replaceAll('@', '\u200b@\u2060'),
  'in base64': text => Buffer.from(text).toString('base64'),
  'in base64url': text => Buffer.from(text).toString('base64url'),
  'in hexadecimal digits': text => Buffer.from(text).toString('hex'),
}
