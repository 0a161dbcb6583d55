import { inSingleQuotes } from '#src/model/shell-word.ts'
import { FileRefused } from '../file-refused.ts'

/** How many bytes of a file are needed to tell its format. */
export const HEAD = 4096

/** Returns the format of a file by its beginning. Throws `FileRefused` if it is not text, or not text that Ferry reads. */
export function sniffFormat(head: Buffer, name: string): 'csv' | 'ndjson' {
  if (head.length === 0) throw empty(name)
  refuseWideText(head, name)
  refuseBinary(head, name)
  const text = head
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trimStart()
  if (text.startsWith('[') && /^\[\s*(?:[[{"\]\d-]|$)/.test(text)) throw jsonArray(name)
  if (!text.startsWith('{')) {
    if (/^[^\n]*\r[^\n]/.test(text) && !text.includes('\n')) throw oldMacLines(name)
    return 'csv'
  }
  if (/^\{\s*(?:\n|$)/.test(text)) {
    throw new FileRefused(
      `${name} is one JSON document over several lines; Ferry reads one JSON object a line.`,
      `Write one row a line, here the rows under "data": ${reading("jq -c '.data[]'", name, 'file.json')} > ${ndjsonName(name)}`,
    )
  }
  return 'ndjson'
}

export function empty(name: string): FileRefused {
  return new FileRefused(`${name} is empty.`, 'Check that the export is complete.')
}

function refuseWideText(head: Buffer, name: string): void {
  const encoding = wideEncoding(head)
  if (encoding === null) return
  throw new FileRefused(
    `${name} is ${encoding} text; Ferry reads UTF-8.`,
    `Convert it: ${reading(`iconv -f ${encoding} -t UTF-8`, name, 'file.csv')} > utf8.csv`,
  )
}

/** By the byte order mark, or by a NUL in most characters of a text that is mostly ASCII. */
function wideEncoding(head: Buffer): string | null {
  if (head.length >= 4 && head.readUInt32LE() === 0xfeff) return 'UTF-32'
  if (head.length >= 2 && head.readUInt16LE() === 0xfeff) return 'UTF-16'
  if (head.length >= 2 && head.readUInt16BE() === 0xfeff) return 'UTF-16'
  const nuls: [number, number] = [0, 0]
  for (let at = 0; at < head.length; at++) if (head[at] === 0) nuls[at % 2 === 0 ? 0 : 1]++
  const half = head.length / 2
  if (nuls[1] > half * 0.4 && nuls[0] < half * 0.1) return 'UTF-16LE'
  if (nuls[0] > half * 0.4 && nuls[1] < half * 0.1) return 'UTF-16BE'
  return null
}

function refuseBinary(head: Buffer, name: string): void {
  const known = MAGIC.find(({ bytes, at = 0 }) => head.subarray(at, at + bytes.length).equals(bytes))
  if (known) throw new FileRefused(`${name} is ${known.what}, not text.`, known.whatToDo)
  let controls = 0
  for (const byte of head) if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13) controls++
  if (controls <= head.length * 0.05) return
  throw new FileRefused(`${name} is not text.`, 'Export the subscribers as CSV or NDJSON, in UTF-8.')
}

const MAGIC = [
  {
    bytes: Buffer.from('PK\x03\x04', 'latin1'),
    what: 'an Excel or zip file',
    whatToDo: 'Save the sheet as "CSV UTF-8", or unpack it first: unzip -p FILE | ferry import -',
  },
  {
    bytes: Buffer.from([0xd0, 0xcf, 0x11, 0xe0]),
    what: 'an old Excel file',
    whatToDo: 'Save the sheet as "CSV UTF-8".',
  },
  // `BZh` alone could begin the name of a column.
  { bytes: Buffer.from('1AY&SY'), at: 4, what: 'a bzip2 file', whatToDo: 'bzip2 -dc FILE | ferry import -' },
  {
    bytes: Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]),
    what: 'an xz file',
    whatToDo: 'xz -dc FILE | ferry import -',
  },
  {
    bytes: Buffer.from('%PDF-', 'latin1'),
    what: 'a PDF file',
    whatToDo: 'Export the subscribers as CSV.',
  },
]

function jsonArray(name: string): FileRefused {
  return new FileRefused(
    `${name} is a JSON array; Ferry reads one JSON object a line (NDJSON).`,
    `Convert it: ${reading("jq -c '.[]'", name, 'file.json')} > ${ndjsonName(name)}`,
  )
}

export function oldMacLines(name: string): FileRefused {
  return new FileRefused(
    `The lines of ${name} end with a lone carriage return.`,
    `Convert it: ${reading("tr '\\r' '\\n' <", name, 'file.csv')} > lines.csv`,
  )
}

/** A command that reads the file, unpacked if its name says that it is packed. What came from stdin is `other` then. */
function reading(command: string, name: string, other: string): string {
  const [, ending] = /\.(gz|zst)$/.exec(name) ?? []
  if (ending === undefined) return `${command} ${shell(name === 'stdin' ? other : name)}`
  return `${ending === 'gz' ? 'gzip' : 'zstd'} -dc ${shell(name)} | ${command.replace(/ <$/, '')}`
}

function ndjsonName(name: string): string {
  return shell(name === 'stdin' ? 'file.ndjson' : `${name.replace(/\.json(?:\.gz|\.zst)?$/, '')}.ndjson`)
}

function shell(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : inSingleQuotes(name)
}
